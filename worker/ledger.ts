/** The applied-steps ledger: one receipt for each step of an execution on a store, and a tombstone for what was forgotten. */
import type { StoreKey } from "../src/protocol/change.js";
import type { AppliedStep, StepId, StepOperation, StepRecord } from "../src/protocol/connector.js";
import type { Database } from "./database.js";

export interface Ledger {
  applied(key: StoreKey, step: StepId): AppliedStep;
  record(key: StoreKey, step: StepRecord): void;
  isForgotten(executionId: string): boolean;
  /** Replaces all receipts of the execution by one tombstone. Idempotent. */
  forget(executionId: string, now: number): void;
}

export function createLedger(database: Database): Ledger {
  const isForgotten = (executionId: string): boolean =>
    database.get("SELECT 1 FROM forgotten_executions WHERE execution_id = ?", executionId) !== undefined;
  return {
    isForgotten,
    applied: ({ storeName, storeId }, { executionId, stepKey }) => {
      if (isForgotten(executionId)) return { status: "execution-forgotten" };
      const receipt = database.get<{ operation: StepOperation; result: string }>(
        `SELECT operation, result FROM store_applied_steps
         WHERE execution_id = ? AND step_key = ? AND store_name = ? AND store_id = ?`,
        executionId,
        stepKey,
        storeName,
        storeId,
      );
      return receipt === undefined ? { status: "not-applied" } : { status: "already-applied", ...receipt };
    },
    record: ({ storeName, storeId }, { executionId, stepKey, operation, result }) => {
      database.run(
        `INSERT INTO store_applied_steps (store_name, store_id, execution_id, step_key, operation, result)
         VALUES (?, ?, ?, ?, ?, ?)`,
        storeName,
        storeId,
        executionId,
        stepKey,
        operation,
        result,
      );
    },
    forget: (executionId, now) => {
      database.run(
        "INSERT INTO forgotten_executions (execution_id, forgotten_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        executionId,
        now,
      );
      database.run("DELETE FROM store_applied_steps WHERE execution_id = ?", executionId);
    },
  };
}
