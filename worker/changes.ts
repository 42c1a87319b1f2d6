/**
 * The change feed: what every commit did, in the order of commits.
 *
 * Owns: the sequence of the database, and how much of the feed is kept. Does not own what a commit does.
 *
 * F1  Sequences ascend without gaps. The newest is always kept: it is the sequence of the database.
 * F2  A commit is kept whole or dropped whole.
 * F3  At least the bound of the app is kept, and at most the bound and one batch more: trimming with every commit would
 *     cost each of them what trimming now and then does not.
 * F4  `head` is that of the table whenever no transaction is open. Whoever rolls one back calls `reload`.
 */
import type { Change } from "../src/protocol/change.js";
import type { ChangesReading } from "../src/protocol/connector.js";
import type { Database } from "./database.js";

const BATCH = 1000;

export interface Changes {
  /** Sequence of the newest commit; 0: there was none. */
  head(): number;
  append(changes: readonly Change[]): void;
  read(after: number, limit: number): ChangesReading;
  /** Drops one batch of the oldest changes if more than the bound and a batch are kept. */
  trim(): void;
  setLimit(limit: number): void;
  reload(): void;
}

interface ChangeRow extends Omit<Change, "deleted"> {
  readonly deleted: number;
}

interface Edge {
  readonly sequence: number;
  readonly ordinal: number;
}

const CHANGE_ROW = `sequence, position, store_name AS storeName, store_id AS storeId, instance_id AS instanceId, version,
  changed_paths AS changedPaths, deleted, origin`;

export function createChanges(database: Database, initialLimit: number): Changes {
  let limit = initialLimit;
  let newest: Edge;
  /** The first change that is kept; null: there is none. */
  let oldest: Edge | null;

  function reload(): void {
    newest = database.get<Edge>(
      "SELECT sequence, ordinal FROM changes ORDER BY sequence DESC, position DESC LIMIT 1",
    ) ?? {
      sequence: 0,
      ordinal: 0,
    };
    oldest = database.get<Edge>("SELECT sequence, ordinal FROM changes ORDER BY sequence, position LIMIT 1") ?? null;
  }

  reload();
  return {
    reload,
    head: () => newest.sequence,
    setLimit: (changed) => {
      limit = changed;
    },
    append: (changes) => {
      for (const change of changes) {
        newest = { sequence: change.sequence, ordinal: newest.ordinal + 1 };
        oldest ??= newest;
        database.run(
          `INSERT INTO changes (sequence, position, ordinal, store_name, store_id, instance_id, version, deleted,
             origin, changed_paths) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          change.sequence,
          change.position,
          newest.ordinal,
          change.storeName,
          change.storeId,
          change.instanceId,
          change.version,
          change.deleted ? 1 : 0,
          change.origin,
          change.changedPaths,
        );
      }
    },
    trim: () => {
      if (oldest === null) return;
      const excess = newest.ordinal - oldest.ordinal + 1 - limit;
      if (excess <= Math.min(BATCH, limit)) return;
      // Two batches at most, so that a bound that was lowered by far does not stop one commit for long.
      const firstKept = database.get<Edge>(
        "SELECT sequence, ordinal FROM changes ORDER BY sequence, position LIMIT 1 OFFSET ?",
        Math.min(excess, 2 * BATCH),
      );
      if (firstKept === undefined) return;
      database.run("DELETE FROM changes WHERE sequence < ?", firstKept.sequence);
      oldest = database.get<Edge>("SELECT sequence, ordinal FROM changes ORDER BY sequence, position LIMIT 1") ?? null;
    },
    read: (after, pageSize) => {
      const head = newest.sequence;
      const first = oldest?.sequence ?? head + 1;
      if (after < head && after + 1 < first) return { status: "trimmed", oldest: first, head };
      const rows = database.all<ChangeRow>(
        `SELECT ${CHANGE_ROW} FROM changes WHERE sequence > ? ORDER BY sequence, position LIMIT ?`,
        after,
        pageSize,
      );
      const last = rows.at(-1);
      if (last !== undefined && rows.length === pageSize) {
        // F2, for the reader: the rest of the commit in which the page ends.
        rows.push(
          ...database.all<ChangeRow>(
            `SELECT ${CHANGE_ROW} FROM changes WHERE sequence = ? AND position > ? ORDER BY position`,
            last.sequence,
            last.position,
          ),
        );
      }
      return { status: "read", changes: rows.map((row) => ({ ...row, deleted: row.deleted === 1 })), head };
    },
  };
}
