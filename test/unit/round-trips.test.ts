import { beforeEach, expect, test } from "vitest";
import type { StoreHandle } from "../../src/store-client.js";
import { createStores, type Stores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { openProbedDatabase, type ProbedDatabase } from "../support/probed-database.js";

// What each operation sends. Every message is a round trip to the owner.
let database: ProbedDatabase;
let stores: Stores;
let handle: StoreHandle<{ n: number }>;
const updater = (draft: { n: number }): void => void draft.n++;

beforeEach(() => {
  database = openProbedDatabase();
  stores = createStores(database.connect("mine"));
  handle = stores.store(Counter, "x");
});

async function messages(work: () => Promise<unknown>): Promise<string[]> {
  database.forget();
  await work();
  return database.calls("mine");
}

test("stores 4: an update of a store that is known sends one message, of one that is not, two", async () => {
  expect(await messages(() => handle.update(updater))).toEqual(["readStore", "commit"]);
  for (let round = 0; round < 3; round++) expect(await messages(() => handle.update(updater))).toEqual(["commit"]);
  await handle.get();
  expect(await messages(() => handle.update(updater))).toEqual(["commit"]);
});

test("stores 9: a new step id costs one message more, and a repeat sends one in all", async () => {
  await handle.get();
  const options = { stepId: { executionId: "e", stepKey: "s" } };
  expect(await messages(() => handle.update(updater, options))).toEqual(["getAppliedStoreStep", "commit"]);
  expect(await messages(() => handle.update(updater, options))).toEqual(["getAppliedStoreStep"]);
});

test("stores 4: a lost race costs one message, since the refusal brings the newer state", async () => {
  const other = createStores(database.connect("other")).store(Counter, "x");
  await handle.get();
  database.fault({
    method: "commit",
    session: "mine",
    at: "before",
    act: async () => void (await other.update(updater)),
  });
  expect(await messages(() => handle.update(updater))).toEqual(["commit", "commit"]);
});

test("stores 4: after another client's commit was heard, an update reads first and does not lose a race", async () => {
  const other = createStores(database.connect("other"));
  await handle.get();
  const heard = new Promise((resolve) => stores.on("commit", resolve));
  await other.store(Counter, "x").update(updater);
  await heard;
  expect(await messages(() => handle.update(updater))).toEqual(["readStore", "commit"]);
});

test("stores 6, 7, 8: compare-and-swap, deletion and take of a known store send one message each", async () => {
  const snapshot = await handle.get();
  expect(await messages(() => handle.updateFrom(snapshot, updater))).toEqual(["commit"]);
  expect(await messages(() => handle.take(() => true, updater))).toEqual(["commit"]);
  const present = handle.peek();
  if (present?.instanceId === null || present === undefined) throw new Error("the store is there");
  expect(await messages(() => handle.deleteFrom(present))).toEqual(["commit"]);
  expect(await messages(() => stores.delete(Counter, "x"))).toEqual(["commit"]);
});

test("stores 18: a transaction over known stores sends one message, with a step id two, repeated one for each store", async () => {
  const board = stores.store(Board, "y");
  await Promise.all([handle.get(), board.get()]);
  const transact = (options = {}): Promise<unknown> => stores.transact({ handle, board }, () => undefined, options);
  expect(await messages(() => transact())).toEqual(["commit"]);
  const options = { stepId: { executionId: "e", stepKey: "s" } };
  expect(await messages(() => transact(options))).toEqual(["getAppliedStoreStep", "commit"]);
  expect(await messages(() => transact(options))).toEqual(["getAppliedStoreStep", "getAppliedStoreStep"]);
});

test("stores 20: a watch of a known store and a peek send nothing; one of an unknown store reads once", async () => {
  await handle.get();
  const shown = (of: StoreHandle<{ n: number }>): Promise<unknown> =>
    new Promise((resolve) => of.watch((state) => state.n, resolve));
  expect(await messages(() => shown(handle))).toEqual([]);
  expect(await messages(async () => handle.peek())).toEqual([]);
  expect(await messages(() => shown(stores.store(Counter, "unknown")))).toEqual(["readStore"]);
});

test("stores 20: a client's own commits cost its waits and watches no reading", async () => {
  const seen: number[] = [];
  handle.watch(
    (state) => state.n,
    (n) => seen.push(n),
  );
  await handle.get();
  const sent = await messages(async () => {
    const waiting = handle.when((state) => state.n === 3);
    for (let round = 0; round < 3; round++) await handle.update(updater);
    await waiting;
  });
  expect(sent.filter((method) => method === "readStore").length).toBeLessThanOrEqual(1); // The wait's first look.
  expect(sent.filter((method) => method === "commit")).toHaveLength(3);
  expect(seen).toEqual([0, 1, 2, 3]);
});
