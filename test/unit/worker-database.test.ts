import { afterEach, beforeEach, expect, test } from "vitest";
import { ClosedError, StorageFullError, WakefulError } from "../../src/protocol/errors.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";

let database: Database;

beforeEach(async () => {
  database = openMemoryDatabase(await loadSqlite());
  database.script("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT UNIQUE) STRICT");
});

afterEach(() => database.close());

const words = (): unknown[] =>
  database.all<{ text: string }>("SELECT text FROM word ORDER BY id").map((row) => row.text);
const add = (text: string): number => database.run("INSERT INTO word (text) VALUES (?)", text);

test("rows come back by the names of their columns, texts, integers past 32 bits and null as they went in", () => {
  const large = Number.MAX_SAFE_INTEGER;
  expect(
    database.get("SELECT ? AS text, ? AS large, ? AS negative, ? AS empty", "ä😀\ud7ff", large, -large, null),
  ).toEqual({
    text: "ä😀\ud7ff",
    large,
    negative: -large,
    empty: null,
  });
  expect(database.get("SELECT 1 WHERE 0")).toBeUndefined();
  expect(database.all("SELECT 1 WHERE 0")).toEqual([]);
});

test("a statement is used again with other parameters, and answers how many rows it changed", () => {
  expect([add("one"), add("two")]).toEqual([1, 1]);
  expect(database.run("UPDATE word SET text = text || '!'")).toBe(2);
  expect(database.run("DELETE FROM word WHERE text = ?", "none")).toBe(0);
  expect(words()).toEqual(["one!", "two!"]);
});

test("D2: a transaction that returns is committed and answers what its function did", () => {
  expect(
    database.transaction(() => {
      add("one");
      return "done";
    }),
  ).toBe("done");
  expect(words()).toEqual(["one"]);
});

test("D2: a transaction that throws leaves nothing, and its caller gets what was thrown", () => {
  const thrown = new Error("changed my mind");
  expect(() =>
    database.transaction(() => {
      add("one");
      throw thrown;
    }),
  ).toThrow(thrown);
  expect(words()).toEqual([]);
  database.transaction(() => add("two"));
  expect(words()).toEqual(["two"]);
});

test("D2: a transaction inside another is refused, and the outer one is rolled back", () => {
  expect(() => database.transaction(() => database.transaction(() => add("one")))).toThrow("cannot be opened inside");
  expect(words()).toEqual([]);
});

test("D3: after a statement failed nothing else of its transaction is written, even when the failure was caught", () => {
  add("one");
  let first: unknown;
  expect(() =>
    database.transaction(() => {
      add("two");
      try {
        add("one");
      } catch (error) {
        first = error;
      }
      add("three");
    }),
  ).toThrow(WakefulError);
  expect(first).toBeInstanceOf(WakefulError);
  expect(words()).toEqual(["one"]);

  // Caught, and nothing after it: the transaction fails all the same.
  expect(() =>
    database.transaction(() => {
      add("two");
      expect(() => add("one")).toThrow("UNIQUE");
    }),
  ).toThrow("UNIQUE");
  expect(words()).toEqual(["one"]);
});

test("tabs 17: a full database is StorageFullError, takes the whole transaction back, and goes on once there is room", () => {
  add("kept");
  const { page_count } = database.get<{ page_count: number }>("PRAGMA page_count") ?? { page_count: 0 };
  database.script(`PRAGMA max_page_count = ${page_count + 3}`);
  const attempt = (): void =>
    database.transaction(() => {
      add("small");
      for (let index = 0; index < 10; index++) add(`${index}`.repeat(8000));
    });
  expect(attempt).toThrow(StorageFullError);
  expect(words()).toEqual(["kept"]);
  expect(database.usable).toBe(true);

  database.script("PRAGMA max_page_count = 100000");
  attempt();
  expect(words()).toHaveLength(12);
});

test("a mistake in SQL is an error of this library with SQLite's own words", () => {
  expect(() => database.run("INSERT INTO missing VALUES (1)")).toThrow(/no such table: missing/);
  expect(() => database.run("INSERT INTO word (id) VALUES (?)", "text")).toThrow(WakefulError);
});

test("close can be called twice; every other call throws ClosedError from then on", () => {
  database.close();
  database.close();
  expect(database.usable).toBe(false);
  for (const call of [
    () => add("one"),
    () => words(),
    () => database.script("SELECT 1"),
    () => database.transaction(() => {}),
    () => database.setDurability("strict"),
  ]) {
    expect(call).toThrow(ClosedError);
  }
});

test("two databases in memory share nothing", async () => {
  const other = openMemoryDatabase(await loadSqlite());
  add("one");
  expect(other.all("SELECT name FROM sqlite_schema")).toEqual([]);
  other.close();
  expect(words()).toEqual(["one"]);
});
