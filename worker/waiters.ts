/**
 * Who waits for which paths of which store, found by an index over the paths.
 *
 * Owns: the waiters, their path rows, and in memory how many waiters each store has. Does not own wakes.
 *
 * A1  A waiter has one path row for each path it read, the root's if it read none; they come and go with it.
 * A2  The counts are those of the table whenever no transaction is open. Whoever rolls one back calls `recount`.
 * A3  `touchedBy` answers exactly the waiters that a scan with `pathsIntersect` would, at a cost that depends on the
 *     changed paths and on whom they wake, not on how many wait.
 */
import type { StoreKey } from "../src/protocol/change.js";
import type { ExpectedVersion, StepId, WaiterRegistration } from "../src/protocol/connector.js";
import { decodePaths, keyRangeEnd, pathKey, prefixKeys, type StorePath } from "../src/protocol/path.js";
import type { Database } from "./database.js";

/** An execution that has to be woken, by the workflow that runs it. */
export interface Sleeper {
  readonly executionId: string;
  readonly workflowId: string;
}

export interface Waiters {
  /** Whether anybody waits for the store; costs no query. */
  any(key: StoreKey): boolean;
  /** Inserts the waiter, or puts it in the place of the same step's older one. */
  register(registration: WaiterRegistration): void;
  /** Those who know only an older version, or another instance, and read what was changed; each execution once. */
  touchedBy(key: StoreKey, written: ExpectedVersion, changedPaths: string): Sleeper[];
  /** Removes all waiters of the store and answers them; each execution once. */
  removeStore(key: StoreKey): Sleeper[];
  /** Removes what the step waits for, whatever stores that is in. */
  removeStep(step: StepId): void;
  removeExecution(executionId: string): void;
  recount(): void;
}

interface WaiterRow {
  readonly waiterId: number;
  readonly storeName: string;
  readonly storeId: string;
}

const WAITER_ROW = "waiter_id AS waiterId, store_name AS storeName, store_id AS storeId";

export function createWaiters(database: Database): Waiters {
  const counts = new Map<string, number>();
  const countKey = ({ storeName, storeId }: StoreKey): string => `${storeName}\0${storeId}`; // Names hold no NUL.

  function recount(): void {
    counts.clear();
    const rows = database.all<StoreKey & { waiters: number }>(
      `SELECT store_name AS storeName, store_id AS storeId, count(*) AS waiters
       FROM store_waiters GROUP BY store_name, store_id`,
    );
    for (const row of rows) counts.set(countKey(row), row.waiters);
  }

  function remove(rows: readonly WaiterRow[]): void {
    for (const row of rows) {
      // By the paths' keys and not by the waiter, which would need an index of its own with every registration.
      const { readPaths } = database.get<{ readPaths: string }>(
        "SELECT read_paths AS readPaths FROM store_waiters WHERE waiter_id = ?",
        row.waiterId,
      ) ?? { readPaths: "[]" };
      database.run(
        `DELETE FROM store_waiter_paths
         WHERE store_name = ? AND store_id = ? AND path_key IN (SELECT value FROM json_each(?)) AND waiter_id = ?`,
        row.storeName,
        row.storeId,
        JSON.stringify(readKeys(readPaths)),
        row.waiterId,
      );
      database.run("DELETE FROM store_waiters WHERE waiter_id = ?", row.waiterId);
      const left = (counts.get(countKey(row)) ?? 1) - 1;
      if (left === 0) counts.delete(countKey(row));
      else counts.set(countKey(row), left);
    }
  }

  recount();
  return {
    recount,
    any: (key) => counts.has(countKey(key)),
    register: (registration) => {
      const { workflowId, executionId, stepKey, storeName, storeId, instanceId, sinceVersion, readPaths } =
        registration;
      remove(
        database.all<WaiterRow>(
          `SELECT ${WAITER_ROW} FROM store_waiters
           WHERE execution_id = ? AND step_key = ? AND store_name = ? AND store_id = ?`,
          executionId,
          stepKey,
          storeName,
          storeId,
        ),
      );
      const inserted = database.get<{ waiterId: number }>(
        `INSERT INTO store_waiters
           (workflow_id, execution_id, step_key, store_name, store_id, instance_id, since_version, read_paths)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING waiter_id AS waiterId`,
        workflowId,
        executionId,
        stepKey,
        storeName,
        storeId,
        instanceId,
        sinceVersion,
        readPaths,
      );
      if (inserted === undefined) throw new Error("SQLite returned no row for a waiter that it inserted.");
      database.run(
        `INSERT INTO store_waiter_paths (store_name, store_id, path_key, waiter_id)
         SELECT ?, ?, value, ? FROM json_each(?)`,
        storeName,
        storeId,
        inserted.waiterId,
        JSON.stringify(readKeys(readPaths)),
      );
      counts.set(countKey(registration), (counts.get(countKey(registration)) ?? 0) + 1);
    },
    touchedBy: ({ storeName, storeId }, { instanceId, version }, changedPaths) => {
      const { exact, ranges } = lookupKeys(changedPaths);
      return database.all<Sleeper>(
        `SELECT DISTINCT execution_id AS executionId, workflow_id AS workflowId FROM store_waiters
         WHERE waiter_id IN (
           SELECT p.waiter_id FROM json_each(?3) AS k CROSS JOIN store_waiter_paths AS p
             ON p.store_name = ?1 AND p.store_id = ?2 AND p.path_key = k.value
           UNION ALL
           SELECT p.waiter_id FROM json_each(?4) AS r CROSS JOIN store_waiter_paths AS p
             ON p.store_name = ?1 AND p.store_id = ?2 AND p.path_key >= r.value ->> 0 AND p.path_key < r.value ->> 1
         ) AND (instance_id <> ?5 OR since_version < ?6)`,
        storeName,
        storeId,
        JSON.stringify(exact),
        JSON.stringify(ranges),
        instanceId,
        version,
      );
    },
    removeStore: (key) => {
      const sleepers = database.all<Sleeper>(
        `SELECT DISTINCT execution_id AS executionId, workflow_id AS workflowId FROM store_waiters
         WHERE store_name = ? AND store_id = ?`,
        key.storeName,
        key.storeId,
      );
      database.run("DELETE FROM store_waiter_paths WHERE store_name = ? AND store_id = ?", key.storeName, key.storeId);
      database.run("DELETE FROM store_waiters WHERE store_name = ? AND store_id = ?", key.storeName, key.storeId);
      counts.delete(countKey(key));
      return sleepers;
    },
    removeStep: ({ executionId, stepKey }) => {
      if (counts.size === 0) return;
      remove(
        database.all<WaiterRow>(
          `SELECT ${WAITER_ROW} FROM store_waiters WHERE execution_id = ? AND step_key = ?`,
          executionId,
          stepKey,
        ),
      );
    },
    removeExecution: (executionId) => {
      if (counts.size === 0) return;
      remove(database.all<WaiterRow>(`SELECT ${WAITER_ROW} FROM store_waiters WHERE execution_id = ?`, executionId));
    },
  };
}

/** The keys a waiter is found by; each once. */
function readKeys(readPaths: string): string[] {
  const paths = pathsOf(readPaths);
  return paths.length === 0 ? [pathKey([])] : [...new Set(paths.map(pathKey))];
}

/** A changed path meets the waiters of its prefixes, by their keys, and those of what lies below it, by a range. */
function lookupKeys(changedPaths: string): { exact: string[]; ranges: [string, string][] } {
  const exact = new Set<string>();
  const ranges = new Map<string, string>();
  for (const path of pathsOf(changedPaths)) {
    const key = pathKey(path);
    for (const prefix of prefixKeys(path)) if (prefix !== key) exact.add(prefix);
    ranges.set(key, keyRangeEnd(key));
  }
  return { exact: [...exact], ranges: [...ranges] };
}

function pathsOf(text: string): readonly StorePath[] {
  const decoded = decodePaths(text);
  if (decoded.status === "decoded") return decoded.paths;
  throw new Error(`Paths that were not checked: ${decoded.message}`);
}
