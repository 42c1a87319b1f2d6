/**
 * What live clients have committed without a step id: how a commit that is sent again after the loss of an owner is
 * answered instead of applied twice (stores 10).
 *
 * Owns: one row for each session that has committed, one for each of its commits that it may still ask about.
 * Does not own: who is alive (sessions.ts), nor receipts, which outlive the client (ledger.ts).
 *
 * R1  A record is written in the transaction of its commit: either both are there or neither.
 * R2  A commit that is sent again and has a record is not applied. One without a record was not applied.
 * R3  R2 holds only as long as the session's row is there. It is removed after the client said that it is done, or when
 *     the client has been gone for longer than a bound; a commit of a client that comes back after that is refused.
 * R4  What the client has acknowledged is settled: should its message arrive once more, by a slower way, it is refused.
 * R5  Records below what the client has acknowledged are dropped, a batch at a time.
 * R6  A session that commits has not ended, whatever was written of it before: the next owner, who has not heard of it
 *     yet, must not take a client that came back for one that is gone.
 */
import type { Database } from "./database.js";

/** Records that a session may have acknowledged before they are dropped: deleting with every commit costs 6 %. */
const PRUNE_BATCH = 64;

export interface SessionRecords {
  /** Whether the session has committed and was not removed since. */
  has(session: string): boolean;
  /** The sequence of this call's commit; undefined if it was not applied (R2). */
  find(session: string, number: number): number | undefined;
  /** Whether the client has said that it has the outcome of this call (R4). */
  isSettled(session: string, number: number): boolean;
  /** Call it in the transaction of the commit (R1). */
  record(session: string, number: number, acknowledged: number, sequence: number): void;
  /** The client is gone as far as is known; the bound runs from now, epoch milliseconds. */
  end(session: string, now: number): void;
  /** The client said that it asks about nothing any more. */
  remove(session: string): void;
  /** Removes what ended before that time, unless `isAlive` says that it came back. */
  removeEnded(before: number, isAlive: (session: string) => boolean): void;
  /** Sessions that no owner has seen end. */
  standing(): readonly string[];
  /** Forgets what is kept in memory: a transaction was rolled back. */
  reload(): void;
}

export function createSessionRecords(database: Database): SessionRecords {
  /** Sessions whose row is certainly there, and does not say that they ended. */
  const known = new Set<string>();
  /** By session: below this number nothing is left. */
  const pruned = new Map<string, number>();
  /** By session: below this number everything is settled. Only of messages to this owner, the only ones it can get. */
  const settled = new Map<string, number>();

  const reload = (): void => {
    known.clear();
    pruned.clear();
  };
  const has = (session: string): boolean =>
    known.has(session) || database.get("SELECT 1 FROM sessions WHERE session = ?", session) !== undefined;
  const remove = (session: string): void => {
    database.run("DELETE FROM session_calls WHERE session = ?", session);
    database.run("DELETE FROM sessions WHERE session = ?", session);
    known.delete(session);
    pruned.delete(session);
    settled.delete(session);
  };

  return {
    has,
    find: (session, number) =>
      database.get<{ sequence: number }>(
        "SELECT sequence FROM session_calls WHERE session = ? AND number = ?",
        session,
        number,
      )?.sequence,
    isSettled: (session, number) => number < (settled.get(session) ?? 0),
    record: (session, number, acknowledged, sequence) => {
      if (!known.has(session)) {
        database.run(
          "INSERT INTO sessions (session, ended_at) VALUES (?, NULL) ON CONFLICT DO UPDATE SET ended_at = NULL",
          session,
        );
        known.add(session);
      }
      database.run("INSERT INTO session_calls (session, number, sequence) VALUES (?, ?, ?)", session, number, sequence);
      settled.set(session, Math.max(acknowledged, settled.get(session) ?? 0));
      if (acknowledged - (pruned.get(session) ?? 0) < PRUNE_BATCH) return;
      database.run("DELETE FROM session_calls WHERE session = ? AND number < ?", session, acknowledged);
      pruned.set(session, acknowledged);
    },
    end: (session, now) => {
      known.delete(session); // Should it come back, its next record says so (R6).
      database.run("UPDATE sessions SET ended_at = ? WHERE session = ?", now, session);
    },
    remove,
    removeEnded: (before, isAlive) => {
      const ended = database.all<{ session: string }>("SELECT session FROM sessions WHERE ended_at < ?", before);
      for (const { session } of ended) if (!isAlive(session)) remove(session);
    },
    standing: () =>
      database
        .all<{ session: string }>("SELECT session FROM sessions WHERE ended_at IS NULL")
        .map(({ session }) => session),
    reload,
  };
}
