/**
 * The tables, as a list of steps. `user_version` is the number of steps that a database has behind it.
 *
 * G1  The list is append-only: a step that was released is never edited, since databases exist that it made.
 * G2  A database with more steps than this build knows says which builds may still use it (`meta.oldest_schema`); any
 *     other build is refused before anything is written.
 * G3  Steps and the new `user_version` are one transaction: a database is never between two.
 */
import { DatabaseNewerError } from "../src/protocol/errors.js";
import { OLDEST_SCHEMA } from "../src/protocol/wire.js";
import type { Database } from "./database.js";

// One string a statement, so that what is said of them does not travel with the worker.
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE meta (
       id INTEGER PRIMARY KEY CHECK (id = 1),
       database_id TEXT NOT NULL,
       epoch INTEGER NOT NULL
     ) STRICT`,
    `INSERT INTO meta (id, database_id, epoch) VALUES (1, lower(hex(randomblob(16))), 0)`,
    // The state comes last, so that the version is read without the pages of a large state.
    `CREATE TABLE stores (
       instance_id TEXT NOT NULL PRIMARY KEY,
       store_name TEXT NOT NULL,
       store_id TEXT NOT NULL,
       version INTEGER NOT NULL,
       definition_version INTEGER NOT NULL,
       state TEXT NOT NULL,
       UNIQUE (store_name, store_id)
     ) STRICT`,
    // The ledger. Not WITHOUT ROWID: a result of over 1,000 bytes would spill to overflow pages of the key's tree. The
    // execution leads the key, so that the one index also finds what to forget of it.
    `CREATE TABLE store_applied_steps (
       store_name TEXT NOT NULL,
       store_id TEXT NOT NULL,
       execution_id TEXT NOT NULL,
       step_key TEXT NOT NULL,
       operation TEXT NOT NULL,
       result TEXT NOT NULL,
       PRIMARY KEY (execution_id, step_key, store_name, store_id)
     ) STRICT`,
    `CREATE TABLE forgotten_executions (
       execution_id TEXT NOT NULL PRIMARY KEY,
       forgotten_at INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE store_waiters (
       waiter_id INTEGER PRIMARY KEY,
       workflow_id TEXT NOT NULL,
       execution_id TEXT NOT NULL,
       step_key TEXT NOT NULL,
       store_name TEXT NOT NULL,
       store_id TEXT NOT NULL,
       instance_id TEXT NOT NULL,
       since_version INTEGER NOT NULL,
       read_paths TEXT NOT NULL,
       UNIQUE (execution_id, step_key, store_name, store_id)
     ) STRICT`,
    `CREATE INDEX store_waiters_by_store ON store_waiters (store_name, store_id)`,
    // One row for each path that a waiter read, by the key of the path: how a commit finds whom it wakes.
    `CREATE TABLE store_waiter_paths (
       store_name TEXT NOT NULL,
       store_id TEXT NOT NULL,
       path_key TEXT NOT NULL,
       waiter_id INTEGER NOT NULL,
       PRIMARY KEY (store_name, store_id, path_key, waiter_id)
     ) STRICT, WITHOUT ROWID`,
    // AUTOINCREMENT: a generation is never used twice, so an acknowledgement that comes late never removes a newer wake.
    `CREATE TABLE store_wakes (
       generation INTEGER PRIMARY KEY AUTOINCREMENT,
       execution_id TEXT NOT NULL UNIQUE,
       workflow_id TEXT NOT NULL,
       requested_at INTEGER NOT NULL
     ) STRICT`,
    // The feed. Its newest sequence is the sequence of the database. The ordinal counts changes over all commits, so that
    // how many are kept is known without counting them.
    `CREATE TABLE changes (
       sequence INTEGER NOT NULL,
       position INTEGER NOT NULL,
       ordinal INTEGER NOT NULL,
       store_name TEXT NOT NULL,
       store_id TEXT NOT NULL,
       instance_id TEXT NOT NULL,
       version INTEGER NOT NULL,
       deleted INTEGER NOT NULL,
       origin TEXT NOT NULL,
       changed_paths TEXT NOT NULL,
       PRIMARY KEY (sequence, position)
     ) STRICT, WITHOUT ROWID`,
  ],
  [
    // Clients that have committed without a step id, and those commits that they may still ask about.
    `CREATE TABLE sessions (
       session TEXT NOT NULL PRIMARY KEY,
       ended_at INTEGER
     ) STRICT, WITHOUT ROWID`,
    // The oldest schema whose builds can read and write this database: what a deployment that was rolled back asks.
    `ALTER TABLE meta ADD COLUMN oldest_schema INTEGER NOT NULL DEFAULT 2`,
    `CREATE INDEX sessions_by_end ON sessions (ended_at)`,
    `CREATE TABLE session_calls (
       session TEXT NOT NULL,
       number INTEGER NOT NULL,
       sequence INTEGER NOT NULL,
       PRIMARY KEY (session, number)
     ) STRICT, WITHOUT ROWID`,
  ],
];

/** The `user_version` of a database that this build has migrated. */
export const NEWEST_SCHEMA: number = MIGRATIONS.length;

/**
 * Brings the database up to this build.
 *
 * @throws DatabaseNewerError when a newer build was here whose database this one must not touch (G2)
 */
export function migrate(database: Database): void {
  const applied = schemaOf(database);
  if (applied > NEWEST_SCHEMA && oldestSchemaOf(database) > NEWEST_SCHEMA) {
    throw new DatabaseNewerError(
      `The database was written by a newer version of the app (schema ${applied}, this one knows ${NEWEST_SCHEMA}). Reload to get that version; nothing was changed.`,
      { found: applied, known: NEWEST_SCHEMA },
    );
  }
  if (applied >= NEWEST_SCHEMA) return;
  database.transaction(() => {
    for (const statement of MIGRATIONS.slice(applied).flat()) database.script(statement);
    database.run("UPDATE meta SET oldest_schema = ? WHERE id = 1", OLDEST_SCHEMA);
    database.script(`PRAGMA user_version = ${NEWEST_SCHEMA}`);
  });
}

/** Schema 1 does not say; no build has left it behind that is newer than one that knows schema 2. */
function oldestSchemaOf(database: Database): number {
  return (
    database.get<{ oldest: number }>("SELECT oldest_schema AS oldest FROM meta WHERE id = 1")?.oldest ??
    NEWEST_SCHEMA + 1
  );
}

function schemaOf(database: Database): number {
  return database.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}
