import * as fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import type { Change } from "../../src/protocol/change.js";
import type { ChangesReading } from "../../src/protocol/connector.js";
import { type Changes, createChanges } from "../../worker/changes.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { migrate } from "../../worker/migrations.js";
import { ROOT } from "../conformance/requests.js";

let database: Database;

beforeEach(async () => {
  database = openMemoryDatabase(await loadSqlite());
  migrate(database);
});

function changesOf(sequence: number, count: number): Change[] {
  return Array.from({ length: count }, (_, position) => ({
    sequence,
    position,
    storeName: "s",
    storeId: `${sequence}.${position}`,
    instanceId: "i",
    version: position,
    changedPaths: ROOT,
    deleted: position % 2 === 1,
    origin: "me",
  }));
}

function commit(feed: Changes, size: number): void {
  database.transaction(() => {
    feed.append(changesOf(feed.head() + 1, size));
    feed.trim();
  });
}

function kept(): number {
  return database.get<{ kept: number }>("SELECT count(*) AS kept FROM changes")?.kept ?? 0;
}

test("F1, F2, F3: whatever commits come, the bound is kept to within a batch, whole commits, and the newest", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), sizes, (limit, commits) => {
      database.run("DELETE FROM changes");
      const feed = createChanges(database, limit);
      for (const size of commits) commit(feed, size);

      const reading = feed.read(0, 10_000);
      const oldest = reading.status === "trimmed" ? reading.oldest : 1;
      const sequences = commits.flatMap((size, index) => Array.from({ length: size }, () => index + 1));
      const rows = feed.read(oldest - 1, 10_000);
      expect(rows.status === "read" && rows.changes.map((change) => change.sequence)).toEqual(
        sequences.filter((sequence) => sequence >= oldest),
      );
      expect(feed.head()).toBe(commits.length);
      expect(kept()).toBeGreaterThanOrEqual(Math.min(limit, sequences.length));
      // A commit of 12 changes may be the one at which trimming stops.
      expect(kept()).toBeLessThanOrEqual(2 * limit + 12);
      expect(createChanges(database, limit).read(0, 10_000)).toEqual(reading);
    }),
    { numRuns: 60 },
  );
});

test("F3: a large bound is trimmed a batch of 1,000 at a time", () => {
  const feed = createChanges(database, 2000);
  for (let index = 0; index < 30; index++) commit(feed, 100);
  expect(kept()).toBe(3000);
  commit(feed, 100);
  expect(kept()).toBe(2000);
  expect(feed.read(0, 10)).toEqual({ status: "trimmed", oldest: 12, head: 31 });
});

test("F3: a bound that was lowered by far is reached over several commits, none of which stops for long", () => {
  const feed = createChanges(database, 100_000);
  for (let index = 0; index < 10; index++) commit(feed, 1000);
  feed.setLimit(10);
  for (let before = kept(); before > 3000; before = kept()) {
    commit(feed, 1);
    expect(before + 1 - kept()).toBeGreaterThanOrEqual(1000);
    expect(before + 1 - kept()).toBeLessThanOrEqual(2000);
  }
  for (let index = 0; index < 20; index++) commit(feed, 1);
  expect(kept()).toBeLessThanOrEqual(20);
});

test("F2: a page that ends in a commit holds the rest of it, and the pages together are the feed", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      (commits, limit) => {
        database.run("DELETE FROM changes");
        const feed = createChanges(database, 1000);
        for (const size of commits) commit(feed, size);
        const pages: Change[] = [];
        for (let after = 0; ; ) {
          const page = readPage(feed.read(after, limit));
          if (page.length === 0) break;
          pages.push(...page);
          expect(page.length).toBeLessThan(limit + 7);
          after = page.at(-1)?.sequence ?? after;
        }
        expect(pages).toEqual(commits.flatMap((size, index) => changesOf(index + 1, size)));
      },
    ),
    { numRuns: 60 },
  );
});

test("F4: what was appended and rolled back is forgotten by a reload", () => {
  const feed = createChanges(database, 1000);
  commit(feed, 2);
  expect(() =>
    database.transaction(() => {
      feed.append(changesOf(2, 3));
      throw new Error("rolled back");
    }),
  ).toThrow("rolled back");
  feed.reload();
  expect(feed.head()).toBe(1);
  commit(feed, 1);
  expect(database.all("SELECT ordinal FROM changes ORDER BY ordinal")).toEqual([
    { ordinal: 1 },
    { ordinal: 2 },
    { ordinal: 3 },
  ]);
});

test("an empty feed reads as empty from any sequence", () => {
  const feed = createChanges(database, 10);
  expect(feed.read(0, 10)).toEqual({ status: "read", changes: [], head: 0 });
  expect(feed.read(7, 10)).toEqual({ status: "read", changes: [], head: 0 });
});

function readPage(reading: ChangesReading): readonly Change[] {
  if (reading.status === "trimmed") throw new Error("Nothing was trimmed.");
  return reading.changes;
}
