/** Durable requests that an execution be delivered again: one row for each execution, until it is acknowledged. */
import type { Wake } from "../src/protocol/connector.js";
import type { Database } from "./database.js";

export interface WakeRequest {
  readonly executionId: string;
  readonly workflowId: string;
}

export interface Wakes {
  /** Requests the wake; one that is requested already gets a new generation. */
  request(request: WakeRequest, now: number): void;
  /** Wakes of a generation above `after`, in the order in which they were requested last. */
  read(after: number, limit: number): Wake[];
  /** Those of `executionIds` that still have a wake. */
  standing(executionIds: readonly string[]): string[];
  /** Removes the wake if its generation is still this one. Answers whether it was. */
  acknowledge(executionId: string, generation: number): boolean;
  remove(executionId: string): void;
}

export function createWakes(database: Database): Wakes {
  return {
    request: ({ executionId, workflowId }, now) => {
      database.run(
        "INSERT OR REPLACE INTO store_wakes (execution_id, workflow_id, requested_at) VALUES (?, ?, ?)",
        executionId,
        workflowId,
        now,
      );
    },
    read: (after, limit) =>
      database.all<Wake>(
        `SELECT workflow_id AS workflowId, execution_id AS executionId, generation, requested_at AS requestedAt
         FROM store_wakes WHERE generation > ? ORDER BY generation LIMIT ?`,
        after,
        limit,
      ),
    standing: (executionIds) =>
      executionIds.filter(
        (executionId) => database.get("SELECT 1 FROM store_wakes WHERE execution_id = ?", executionId) !== undefined,
      ),
    acknowledge: (executionId, generation) =>
      database.run("DELETE FROM store_wakes WHERE execution_id = ? AND generation = ?", executionId, generation) === 1,
    remove: (executionId) => {
      database.run("DELETE FROM store_wakes WHERE execution_id = ?", executionId);
    },
  };
}
