/** The database on real OPFS: its modes, and that the next owner finds what the last one committed. */
import { afterEach, expect, test } from "vitest";
import { newName, spawn, terminateAll } from "./database-client.js";

afterEach(terminateAll);

test("tabs 2: the database opens with EXCLUSIVE, WAL and FULL, and NORMAL when relaxed", async () => {
  const worker = spawn();
  const opened = await worker.open(newName());
  expect(opened).toMatchObject({ journalMode: "wal", durability: "strict", epoch: 1, head: 0 });
  const found: Record<string, unknown> = {};
  for (const pragma of [
    "locking_mode",
    "journal_mode",
    "synchronous",
    "page_size",
    "temp_store",
    "wal_autocheckpoint",
  ]) {
    const [row] = await worker.select<object>(`PRAGMA ${pragma}`);
    found[pragma] = Object.values(row ?? {})[0];
  }
  expect(found).toEqual({
    locking_mode: "exclusive",
    journal_mode: "wal",
    synchronous: 2,
    page_size: 8192,
    temp_store: 2,
    wal_autocheckpoint: 1000,
  });

  await worker.run({ type: "durability", durability: "relaxed" });
  expect(await worker.select("PRAGMA synchronous")).toEqual([{ synchronous: 1 }]);
  await worker.run({ type: "durability", durability: "strict" });
  expect(await worker.select("PRAGMA synchronous")).toEqual([{ synchronous: 2 }]);
});

test("tabs 5: what was committed is there for the next owner, whose epoch is the next", async () => {
  const name = newName();
  const first = spawn();
  const opened = await first.open(name);
  await first.run({ type: "measure", count: 3, stateBytes: 10 });
  await first.run({ type: "close" });
  first.terminate();

  const second = await spawn().open(name);
  expect(second).toMatchObject({ epoch: 2, head: 3, databaseId: opened.databaseId });
});

test("a worker that closed the database can open it again", async () => {
  const name = newName();
  const worker = spawn();
  await worker.open(name);
  await worker.run({ type: "measure", count: 2, stateBytes: 10 });
  await worker.run({ type: "close" });
  expect(await worker.open(name, { lock: false })).toMatchObject({ epoch: 2, head: 2 });
});

test("a worker that opens what it has open already is told so, and goes on with what it has", async () => {
  const worker = spawn();
  const name = newName();
  await worker.open(name);
  await worker.run({ type: "measure", count: 2, stateBytes: 10 });
  await expect(worker.open(name, { lock: false })).rejects.toMatchObject({ reason: "busy" });
  await worker.run({ type: "measure", count: 2, stateBytes: 10 });
  expect(await worker.select("SELECT max(sequence) AS head FROM changes")).toEqual([{ head: 4 }]);
});

test("tabs 1: two databases of one origin share nothing, and are open at the same time", async () => {
  const [one, other] = [spawn(), spawn()];
  const [first, second] = [await one.open(newName()), await other.open(newName())];
  await one.run({ type: "measure", count: 2, stateBytes: 10 });
  expect(await other.select("SELECT * FROM stores")).toEqual([]);
  expect(first.databaseId).not.toBe(second.databaseId);
});

test("SQLite that cannot be loaded is an error that says where to look, and loading again can succeed", async () => {
  const worker = spawn();
  await expect(worker.run({ type: "load", wasmUrl: "/nowhere/sqlite3.wasm" })).rejects.toMatchObject({
    code: "storage-unavailable",
    message: expect.stringContaining("wasmUrl"),
  });
  await worker.run({ type: "load" });
  expect(await worker.open(newName())).toMatchObject({ journalMode: "wal" });
});
