/** Rows read past SQLite from the bytes of real databases, whole and damaged. */
import * as fc from "fast-check";
import { v7 as instanceId } from "uuid";
import { beforeAll, expect, test } from "vitest";
import { openPages } from "../../src/recovery/database-pages.js";
import { type RecoveredStore, readStoredRows } from "../../src/recovery/stored-rows.js";
import { createStoreHost, type StoreHost } from "../../worker/connector.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";

const PAGE = 8192;

let database: Database;
let bytes: Uint8Array<ArrayBuffer>;
let expected: ReadonlyMap<string, RecoveredStore>;

beforeAll(async () => {
  database = openMemoryDatabase(await loadSqlite());
  const host = createStoreHost(database, { clock: () => 0, publish: () => undefined });
  for (let n = 0; n < 300; n++) create(host, `store ${n}`, "ä".repeat(n * 3));
  // Over one page, over several, and so long a name that the columns do not fit into the page.
  create(host, "large", "x".repeat(100_000));
  create(host, "ü".repeat(500), "y".repeat(20_000));
  for (let n = 0; n < 300; n += 3) {
    host.call("me", "commit", {
      operations: [{ type: "discard", storeName: "note", storeId: `store ${n}`, definitionVersion: 1 }],
    });
  }
  bytes = database.serialize();
  const rows = database.all<RecoveredStore>(
    "SELECT store_name AS storeName, store_id AS storeId, instance_id AS instanceId, version, definition_version AS definitionVersion, state FROM stores",
  );
  expected = new Map(rows.map((row) => [row.storeId, { ...row }]));
});

test("tabs 18: every store of a whole database is found, none that was deleted, and each as SQLite has it", async () => {
  const found = await rowsOf(bytes);
  expect(found.length).toBe(expected.size);
  for (const row of found) expect(row).toEqual(expected.get(row.storeId));
});

test("tabs 18: without the header, the schema and the trees every store is found all the same", async () => {
  const damaged = bytes.slice();
  damaged.fill(0xff, 0, PAGE);
  // Inner pages of tables and indexes.
  for (let at = PAGE; at < damaged.length; at += PAGE)
    if (damaged[at] === 5 || damaged[at] === 2) damaged.fill(0, at, at + PAGE);
  const found = await rowsOf(damaged);
  // Of pages in no list any more it cannot be told that they are free: a deleted store may come back.
  const byId = new Map(found.map((row) => [row.storeId, row]));
  for (const [storeId, row] of expected) expect(byId.get(storeId)).toEqual(row);
});

test("tabs 18: a file that was cut short gives the stores of the part that is left", async () => {
  const found = await rowsOf(bytes.slice(0, bytes.length / 2 + 100));
  expect(found.length).toBeGreaterThan(50);
  for (const row of found) {
    const whole = expected.get(row.storeId);
    expect(row).toEqual(row.state === null ? { ...whole, state: null } : whole);
  }
});

test("tabs 18: pages of zeros take away their own stores and spoil no other one", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(bytes.length / PAGE - 1), { minLength: 1, maxLength: 5 }),
      async (zeroed) => {
        const damaged = bytes.slice();
        for (const page of zeroed) damaged.fill(0, page * PAGE, (page + 1) * PAGE);
        for (const row of await rowsOf(damaged)) {
          const whole = expected.get(row.storeId);
          if (whole === undefined) continue; // Deleted, from a page whose list of free ones is gone.
          expect(row).toEqual(row.state === null ? { ...whole, state: null } : whole);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("tabs 18: whatever bytes are flipped, reading ends, and what is called readable is JSON", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 200 }),
      async (flips) => {
        const damaged = bytes.slice();
        for (const [at, byte] of flips) damaged[at] = byte;
        for (const { state } of await rowsOf(damaged)) expect(() => JSON.parse(state ?? "null")).not.toThrow();
      },
    ),
    { numRuns: 30 },
  );
});

async function rowsOf(file: Uint8Array<ArrayBuffer>): Promise<RecoveredStore[]> {
  const rows: RecoveredStore[] = [];
  for await (const row of readStoredRows(await openPages(new Blob([file]), undefined))) rows.push(row);
  return rows;
}

function create(host: StoreHost, storeId: string, text: string): void {
  host.call("me", "commit", {
    operations: [
      {
        type: "create",
        storeName: "note",
        storeId,
        definitionVersion: 1,
        instanceId: instanceId(),
        version: 0,
        state: JSON.stringify({ text }),
        changedPaths: "[[]]",
      },
    ],
  });
}
