import { expect, test } from "vitest";
import { createStoreHost } from "../../worker/connector.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { create, discard, key, record, remove, replace, waiter } from "../conformance/requests.js";
import type { StoredSnapshot, StoreReading } from "../../src/protocol/connector.js";

/** Statements that go through a whole table, and why they may. */
const allowed: readonly { readonly statement: RegExp; readonly because: string }[] = [
  {
    statement: /FROM changes ORDER BY sequence(?: DESC)?, position(?: DESC)? LIMIT 1/,
    because: "one row from an end of the key",
  },
  {
    statement: /FROM changes ORDER BY sequence, position LIMIT 1 OFFSET/,
    because: "at most two batches from the beginning",
  },
  { statement: /GROUP BY store_name, store_id/, because: "the counts of waiters, once when the database is opened" },
];

test("no statement goes through a table that grows, except where it is bounded", async () => {
  const database = openMemoryDatabase(await loadSqlite());
  const statements = new Map<string, number>();
  const host = createStoreHost(recording(database, statements), { clock: () => 0, changesLimit: 1, publish: () => {} });
  const call = (method: Parameters<typeof host.call>[1], body: unknown): unknown => host.call("me", method, body);
  const read = (storeId: string): StoredSnapshot => {
    const { snapshot } = call("readStore", key(storeId)) as StoreReading; // What "readStore" answers.
    if (snapshot === null) throw new Error(`The store ${storeId} is missing.`);
    return snapshot;
  };

  // Every call, and every way through it.
  call("commit", { operations: ["a", "b", "c", "d"].map((id) => create(id, "{}")) });
  for (const id of ["a", "b", "c"]) call("registerWaiter", waiter(id, read(id), `sleeper ${id}`));
  call("registerWaiter", waiter("a", read("a"), "sleeper a"));
  call("registerWaiter", waiter("missing", read("a"), "woken"));
  call("commit", { operations: [create("a", "{}", { step: record("E") })] });
  call("commit", {
    operations: [
      replace("a", read("a"), "1", { step: record("E") }),
      remove("b", read("b"), { step: record("E") }),
      discard("c"),
      create("e", "{}"),
    ],
  });
  call("getAppliedStoreStep", { ...key("a"), executionId: "E", stepKey: "step" });
  call("listStores", { storeName: "conformance", after: "a", limit: 10 });
  call("readChanges", { after: host.head() - 1, limit: 1 });
  call("readWakes", { limit: 10, claim: true });
  call("releaseWake", { executionId: "woken" });
  call("acknowledgeWake", { executionId: "woken", generation: 1 });
  call("forgetExecution", "sleeper a");

  expect(statements.size).toBeGreaterThan(30);
  const offending: string[] = [];
  for (const [sql, parameters] of statements) {
    if (!/^\s*(?:SELECT|INSERT|UPDATE|DELETE)/.test(sql)) continue;
    const plan = database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...Array(parameters).fill(null));
    const scans = plan.map((row) => row.detail).filter((detail) => /^SCAN (?!.*VIRTUAL TABLE)/.test(detail));
    const sorts = plan.map((row) => row.detail).filter((detail) => detail.includes("TEMP B-TREE FOR ORDER BY"));
    if (allowed.some(({ statement }) => statement.test(sql))) continue;
    if (scans.length + sorts.length > 0) offending.push(`${sql.trim()}: ${[...scans, ...sorts].join("; ")}`);
  }
  expect(offending).toEqual([]);
});

function recording(database: Database, statements: Map<string, number>): Database {
  const note = (sql: string, parameters: readonly unknown[]): void => {
    statements.set(sql, parameters.length);
  };
  return {
    ...database,
    kind: database.kind,
    journalMode: database.journalMode,
    durability: database.durability,
    usable: database.usable,
    run: (sql, ...parameters) => {
      note(sql, parameters);
      return database.run(sql, ...parameters);
    },
    get: (sql, ...parameters) => {
      note(sql, parameters);
      return database.get(sql, ...parameters);
    },
    all: (sql, ...parameters) => {
      note(sql, parameters);
      return database.all(sql, ...parameters);
    },
    script: (sql) => database.script(sql),
    transaction: (work) => database.transaction(work),
    setDurability: (durability) => database.setDurability(durability),
    close: () => database.close(),
  };
}
