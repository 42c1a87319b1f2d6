/** What the database says of itself: which one it is, and which owner it had last. */
import type { Database } from "./database.js";

export interface Meta {
  /** Random, made with the database: another one means that the data is another, too. */
  readonly databaseId: string;
  /** The epoch of the owner that is opening it now. */
  readonly epoch: number;
}

/** An epoch beyond this was forged: counting on from it would leave the integers that all sides can compare. */
const MAX_HEARD: number = 2 ** 52;

export interface EpochBounds {
  /** The highest epoch that was heard of. Hearsay: anybody can claim one. */
  readonly heardOf: number;
  /** What a database that had no owner yet begins above. */
  readonly first: number;
}

/**
 * Numbers the owner that opens the database now, above all that it had and above what was heard of, and stores that
 * durably.
 */
export function beginEpoch(database: Database, { heardOf, first }: EpochBounds): Meta {
  const row = database.get<Meta>(
    `UPDATE meta SET epoch = max(epoch, ?, CASE epoch WHEN 0 THEN ? ELSE 0 END) + 1 WHERE id = 1
     RETURNING database_id AS databaseId, epoch`,
    heardOf <= MAX_HEARD ? heardOf : 0,
    first,
  );
  if (row === undefined) throw new Error("The database has no identity: its migration did not run.");
  return row;
}
