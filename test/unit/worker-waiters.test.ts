import * as fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { encodePaths, pathsIntersect, type StorePath } from "../../src/protocol/path.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { migrate } from "../../worker/migrations.js";
import { createWaiters, type Waiters } from "../../worker/waiters.js";
import { waiter } from "../conformance/requests.js";
import { dump } from "./database-dump.js";

let database: Database;
let waiters: Waiters;

beforeEach(async () => {
  database = openMemoryDatabase(await loadSqlite());
  migrate(database);
  waiters = createWaiters(database);
});

const key = { storeName: "conformance", storeId: "x" };
const read = { instanceId: "i", version: 0 };
const written = { instanceId: "i", version: 1 };

function register(executionId: string, paths: readonly StorePath[], storeId = "x", stepKey = "step"): void {
  waiters.register(waiter(storeId, read, executionId, { readPaths: encodePaths(paths), stepKey }));
}

function touched(paths: readonly StorePath[]): string[] {
  return waiters
    .touchedBy(key, written, encodePaths(paths))
    .map((sleeper) => sleeper.executionId)
    .sort();
}

// Segments that a careless key would confuse: separators, quotes, NUL, digits, nothing, prefixes of one another.
const segment = fc.constantFrom<string | number>(
  "",
  "a",
  "ab",
  "a,",
  ',"',
  '"',
  "\\",
  "\0",
  "\ud800",
  "é",
  "😀",
  "0",
  "1",
  0,
  1,
  10,
  "-",
  ":",
);
const path = fc.array(segment, { maxLength: 4 });
const pathList = fc.array(path, { minLength: 1, maxLength: 5 });

test("A3, stores 28: the index finds exactly the waiters that a scan with pathsIntersect finds", () => {
  fc.assert(
    fc.property(fc.array(pathList, { maxLength: 12 }), pathList, (reads, changed) => {
      waiters.removeStore(key);
      for (const [index, paths] of reads.entries()) register(`e${index}`, paths);
      const scanned = reads.flatMap((paths, index) =>
        paths.some((one) => changed.some((other) => pathsIntersect(one, other))) ? [`e${index}`] : [],
      );
      expect(touched(changed)).toEqual(scanned.sort());
    }),
    { numRuns: 500 },
  );
});

test("A1: removing a waiter removes its paths, however it is removed, and nobody else's", () => {
  register("keeps", [["a"], ["b", 0]]);
  const before = dump(database);
  fc.assert(
    fc.property(pathList, fc.constantFrom("step", "execution", "again"), (paths, how) => {
      register("goes", paths);
      if (how === "again") register("goes", []);
      if (how === "step") waiters.removeStep({ executionId: "goes", stepKey: "step" });
      else waiters.removeExecution("goes");
      const { store_waiters, store_waiter_paths } = dump(database);
      expect({ store_waiters, store_waiter_paths }).toEqual({
        store_waiters: before["store_waiters"],
        store_waiter_paths: before["store_waiter_paths"],
      });
    }),
  );
});

test("A1: a waiter that read nothing is touched by whatever changes", () => {
  register("nothing", []);
  expect(touched([["a", "b"]])).toEqual(["nothing"]);
});

test("A2: the counts are those of the table, also when it is opened again", () => {
  const other = { ...key, storeId: "y" };
  expect(waiters.any(key)).toBe(false);
  register("e", [["a"]]);
  register("e", [["b"]]);
  register("e", [["b"]], "x", "second step");
  register("f", [["b"]], "y");
  for (const opened of [waiters, createWaiters(database)])
    expect([opened.any(key), opened.any(other)]).toEqual([true, true]);
  waiters.removeStep({ executionId: "e", stepKey: "step" });
  expect(waiters.any(key)).toBe(true);
  waiters.removeExecution("e");
  expect([waiters.any(key), waiters.any(other)]).toEqual([false, true]);
  waiters.removeStore(other);
  expect(waiters.any(other)).toBe(false);
  expect(createWaiters(database).any(other)).toBe(false);
});

test("A2: counts that a rollback made wrong are right after a recount", () => {
  register("e", [["a"]]);
  expect(() =>
    database.transaction(() => {
      waiters.removeExecution("e");
      register("f", [["a"]], "y");
      throw new Error("rolled back");
    }),
  ).toThrow("rolled back");
  waiters.recount();
  expect([waiters.any(key), waiters.any({ ...key, storeId: "y" })]).toEqual([true, false]);
});

test("stores 12: an execution with several waiters on a store is answered once", () => {
  register("e", [["a"]], "x", "one");
  register("e", [["a"], ["b"]], "x", "two");
  register("f", [["a"]]);
  expect(touched([["a"], ["b"]])).toEqual(["e", "f"]);
  expect(waiters.removeStore(key).map((sleeper) => sleeper.executionId)).toEqual(["e", "f"]);
});

test("stores 28: 10,000 waiters that a commit does not touch cost it about what none cost", () => {
  const once = (): number => {
    const started = performance.now();
    for (let index = 0; index < 200; index++) touched([["other", index, "name"]]);
    return performance.now() - started;
  };
  once();
  const without = Math.min(once(), once(), once());
  database.transaction(() => {
    for (let index = 0; index < 10_000; index++) register(`e${index}`, [["items", index, "name"]]);
  });
  const beside = Math.min(once(), once(), once());
  // A scan is a thousand times as slow.
  expect(beside).toBeLessThan(without * 10);
});
