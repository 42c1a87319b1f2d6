/** What the database says of itself: which one it is, and which owner it had last. */
import type { Database } from "./database.js";

export interface Meta {
  /** Random, made with the database: another one means that the data is another, too. */
  readonly databaseId: string;
  /** The epoch of the owner that is opening it now. */
  readonly epoch: number;
}

/**
 * Numbers the owner that opens the database now, above all that it had and above `heardOf`, and stores that durably.
 */
export function beginEpoch(database: Database, heardOf: number): Meta {
  const row = database.get<Meta>(
    "UPDATE meta SET epoch = max(epoch, ?) + 1 WHERE id = 1 RETURNING database_id AS databaseId, epoch",
    heardOf,
  );
  if (row === undefined) throw new Error("The database has no identity: its migration did not run.");
  return row;
}
