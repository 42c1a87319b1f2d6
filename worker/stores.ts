/** The rows of the stores: their state and its version. */
import type { StoreKey } from "../src/protocol/change.js";
import type { StoredSnapshot } from "../src/protocol/connector.js";
import type { Database } from "./database.js";

/** A row without its state. */
export interface StoreHead {
  readonly row: number;
  readonly instanceId: string;
  readonly version: number;
  readonly definitionVersion: number;
}

export interface Stores {
  /** What a write is judged by; reads no page of the state. */
  head(key: StoreKey): StoreHead | undefined;
  read(key: StoreKey): StoredSnapshot | null;
  /** False when a store has this instance id already. */
  insert(key: StoreKey, snapshot: StoredSnapshot): boolean;
  update(row: number, snapshot: Omit<StoredSnapshot, "instanceId">): void;
  remove(row: number): void;
  /** Ids of one definition after `after`, ascending by UTF-8 bytes. */
  list(storeName: string, after: string, limit: number): string[];
}

export function createStores(database: Database): Stores {
  return {
    head: ({ storeName, storeId }) =>
      database.get<StoreHead>(
        `SELECT rowid AS row, instance_id AS instanceId, version, definition_version AS definitionVersion
         FROM stores WHERE store_name = ? AND store_id = ?`,
        storeName,
        storeId,
      ),
    read: ({ storeName, storeId }) =>
      database.get<StoredSnapshot>(
        `SELECT instance_id AS instanceId, version, definition_version AS definitionVersion, state
         FROM stores WHERE store_name = ? AND store_id = ?`,
        storeName,
        storeId,
      ) ?? null,
    insert: ({ storeName, storeId }, { instanceId, version, definitionVersion, state }) =>
      database.run(
        `INSERT INTO stores (instance_id, store_name, store_id, version, definition_version, state)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (instance_id) DO NOTHING`,
        instanceId,
        storeName,
        storeId,
        version,
        definitionVersion,
        state,
      ) === 1,
    update: (row, { version, definitionVersion, state }) => {
      database.run(
        "UPDATE stores SET version = ?, definition_version = ?, state = ? WHERE rowid = ?",
        version,
        definitionVersion,
        state,
        row,
      );
    },
    remove: (row) => {
      database.run("DELETE FROM stores WHERE rowid = ?", row);
    },
    list: (storeName, after, limit) =>
      database
        .all<{ storeId: string }>(
          `SELECT store_id AS storeId FROM stores WHERE store_name = ? AND store_id > ?
           ORDER BY store_id LIMIT ?`,
          storeName,
          after,
          limit,
        )
        .map((row) => row.storeId),
  };
}
