import { expect, test } from "vitest";
import { DatabaseNewerError } from "../../src/protocol/errors.js";
import { SCHEMA_VERSION } from "../../src/protocol/wire.js";
import { createStoreHost, type StoreHost } from "../../worker/connector.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { migrate, NEWEST_SCHEMA } from "../../worker/migrations.js";
import { dump } from "./database-dump.js";

const open = async (): Promise<Database> => openMemoryDatabase(await loadSqlite());
const host = (database: Database, epoch = 0): StoreHost =>
  createStoreHost(database, { clock: () => 0, epoch, publish: () => {} });

test("the schema that builds tell each other is the one that migrations make", async () => {
  const database = await open();
  migrate(database);
  expect(NEWEST_SCHEMA).toBe(SCHEMA_VERSION);
  expect(database.get("PRAGMA user_version")).toEqual({ user_version: NEWEST_SCHEMA });
});

test("G1: the released steps are what they were: this text changes only with a step of its own", async () => {
  const database = await open();
  migrate(database);
  const tables = database.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  const columns = tables.map(({ name }) => {
    const found = database.all<{ name: string; type: string }>(`PRAGMA table_info(${name})`);
    return `${name}: ${found.map((column) => `${column.name} ${column.type}`).join(", ")}`;
  });
  expect(columns).toMatchInlineSnapshot(`
    [
      "changes: sequence INTEGER, position INTEGER, ordinal INTEGER, store_name TEXT, store_id TEXT, instance_id TEXT, version INTEGER, deleted INTEGER, origin TEXT, changed_paths TEXT",
      "forgotten_executions: execution_id TEXT, forgotten_at INTEGER",
      "meta: id INTEGER, database_id TEXT, epoch INTEGER, oldest_schema INTEGER",
      "session_calls: session TEXT, number INTEGER, sequence INTEGER",
      "sessions: session TEXT, ended_at INTEGER",
      "store_applied_steps: store_name TEXT, store_id TEXT, execution_id TEXT, step_key TEXT, operation TEXT, result TEXT",
      "store_waiter_paths: store_name TEXT, store_id TEXT, path_key TEXT, waiter_id INTEGER",
      "store_waiters: waiter_id INTEGER, workflow_id TEXT, execution_id TEXT, step_key TEXT, store_name TEXT, store_id TEXT, instance_id TEXT, since_version INTEGER, read_paths TEXT",
      "store_wakes: generation INTEGER, execution_id TEXT, workflow_id TEXT, requested_at INTEGER",
      "stores: instance_id TEXT, store_name TEXT, store_id TEXT, version INTEGER, definition_version INTEGER, state TEXT",
    ]
  `);
});

test("migrating again changes nothing", async () => {
  const database = await open();
  migrate(database);
  const before = dump(database);
  migrate(database);
  expect(dump(database)).toEqual(before);
});

test("tabs 14: a database newer than this code is refused before anything is written", async () => {
  const database = await open();
  host(database).call("me", "forgetExecution", "gone");
  migratedByNewerBuild(database, { oldestSchema: NEWEST_SCHEMA + 1 });
  const before = dump(database);
  expect(() => host(database)).toThrow(DatabaseNewerError);
  expect(dump(database)).toEqual(before);
  expect(database.get("PRAGMA user_version")).toEqual({ user_version: NEWEST_SCHEMA + 1 });
});

test("tabs 14: a newer database that says that this code can still use it is used, and stays as new as it is", async () => {
  const database = await open();
  host(database).call("me", "forgetExecution", "gone");
  migratedByNewerBuild(database, { oldestSchema: NEWEST_SCHEMA });
  expect(host(database).epoch).toBe(2);
  expect(database.get("PRAGMA user_version")).toEqual({ user_version: NEWEST_SCHEMA + 1 });
});

test("tabs 5: every opening has a higher epoch, above the highest that was heard of", async () => {
  const database = await open();
  expect([host(database), host(database), host(database, 41), host(database, 5)].map(({ epoch }) => epoch)).toEqual([
    1, 2, 42, 43,
  ]);
});

test("tabs 5: a new database begins above the first epoch that it is given, and one that had an owner does not", async () => {
  const database = await open();
  const begin = (firstEpoch: number): number =>
    createStoreHost(database, { clock: () => 0, firstEpoch, publish: () => undefined }).epoch;
  expect([begin(1000), begin(2000)]).toEqual([1001, 1002]);
});

test("tabs 5: a forged epoch past all numbers does not become the database's", async () => {
  const database = await open();
  expect([host(database, Number.MAX_SAFE_INTEGER), host(database)].map(({ epoch }) => epoch)).toEqual([1, 2]);
});

test("a database keeps its id, and another one has another", async () => {
  const database = await open();
  const { databaseId } = host(database);
  expect(host(database).databaseId).toBe(databaseId);
  expect(host(await open()).databaseId).not.toBe(databaseId);
});

function migratedByNewerBuild(database: Database, { oldestSchema }: { readonly oldestSchema: number }): void {
  database.run("UPDATE meta SET oldest_schema = ?", oldestSchema);
  database.script(`PRAGMA user_version = ${NEWEST_SCHEMA + 1}`);
}
