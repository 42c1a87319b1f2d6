import { expect, test, vi } from "vitest";
import { z } from "zod";
import { CasStoreClient } from "../../src/cas-store-client.js";
import { defineStore } from "../../src/define-store.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { openProbedDatabase } from "../support/probed-database.js";

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("stores 1: each operation but listing and deleting creates a missing store from its initial state", async () => {
  const database = openProbedDatabase();
  const client = new CasStoreClient(database.connect());
  const definition = defineStore("made", z.object({ id: z.string() }), { initial: (id) => ({ id }) });
  const anything = { instanceId: "never", version: 0 };
  await client.getStore({ definition, id: "get" });
  await client.updateStore({ definition, id: "update", updater: () => undefined });
  await client.updateStoreFrom({ definition, id: "update-from", snapshot: anything, updater: () => undefined });
  await client.takeFromStore({ definition, id: "take", selector: () => false, claim: () => undefined });
  await client.deleteStoreFrom({ definition, id: "delete-from", snapshot: anything });
  await client.transactStores({ stores: { a: { definition, id: "transact" } }, updater: () => undefined });
  expect(await client.listStores(definition)).toEqual([
    "delete-from",
    "get",
    "take",
    "transact",
    "update",
    "update-from",
  ]);
  for (const id of await client.listStores(definition)) {
    expect((await client.getStore({ definition, id })).state).toEqual({ id });
  }
  await client.deleteStore({ definition, id: "delete" });
  expect(await client.listStores(definition)).not.toContain("delete");
});

test("stores 1: of racing creations one initial state is kept, and everyone goes on with that instance", async () => {
  const database = openProbedDatabase();
  let made = 0;
  const definition = defineStore("racing", z.object({ from: z.number() }), { initial: () => ({ from: ++made }) });
  const snapshots = await Promise.all(
    Array.from({ length: 8 }, () => createStores(database.connect()).store(definition, "x").get()),
  );
  expect(made).toBeGreaterThan(1);
  for (const snapshot of snapshots) expect(snapshot).toEqual(snapshots[0]);
  expect(snapshots[0]?.instanceId).toMatch(uuid7);
  const { sequence } = await database.connect().readStore({ storeName: "racing", storeId: "x" });
  expect(sequence).toBe(1);
});

test("stores 1: `initial` is not called while the store exists", async () => {
  const database = openProbedDatabase();
  const initial = vi.fn<() => { n: number }>(() => ({ n: 0 }));
  const definition = defineStore("counted", z.object({ n: z.number() }), { initial });
  await createStores(database.connect()).store(definition, "x").get();
  initial.mockClear();
  const handle = createStores(database.connect()).store(definition, "x");
  await handle.update((draft) => void draft.n++);
  await handle.get();
  await handle.when((state) => state.n === 1);
  expect(initial).not.toHaveBeenCalled();
});

test("stores 1: waiting from a handle sees the initial state, made once, and creates nothing", async () => {
  const database = openProbedDatabase();
  const initial = vi.fn<() => { n: number; items: string[] }>(() => ({ n: 7, items: [] }));
  const definition = defineStore("awaited", z.object({ n: z.number(), items: z.array(z.string()) }), { initial });
  const stores = createStores(database.connect("waiting"));
  const handle = stores.store(definition, "x");
  const deadline = Date.now();
  expect(await handle.when((state) => state.n === 7)).toBe(true);
  expect(await handle.when((state) => state.n === 8, { deadline })).toEqual({ status: "timed-out" });
  expect(
    await handle.take(
      (state) => state.items[0],
      () => undefined,
      { deadline },
    ),
  ).toEqual({ status: "timed-out" });
  const watched = await new Promise((resolve) => {
    handle.watch(
      (state) => state.n,
      (n, snapshot) => resolve([n, snapshot]),
    );
  });
  expect(watched).toEqual([7, { state: { n: 7, items: [] }, instanceId: null, version: null }]);
  expect(initial).toHaveBeenCalledTimes(1);
  expect(await stores.list(definition)).toEqual([]);
  expect(database.calls("waiting")).not.toContain("commit");
  await stores.close();
});

test("stores 1: a take that matches the initial state of a missing store commits it at version 1", async () => {
  const database = openProbedDatabase();
  const definition = defineStore("slots", z.object({ free: z.number() }), { initial: () => ({ free: 2 }) });
  const handle = createStores(database.connect()).store(definition, "x");
  const left = await handle.take(
    (state) => (state.free > 0 ? { free: state.free } : false),
    (draft) => {
      draft.free -= 1;
    },
  );
  expect(left).toEqual({ free: 2 });
  expect(await handle.get()).toMatchObject({ state: { free: 1 }, version: 1 });
});

test("stores 2: reading a missing store inserts version 0, with a sequence of its own", async () => {
  const connector = openProbedDatabase().connect();
  const handle = createStores(connector).store(Counter, "x");
  expect(await handle.get()).toEqual({ state: { n: 0 }, instanceId: expect.stringMatching(uuid7), version: 0 });
  const reading = await connector.readChanges({ after: 0, limit: 10 });
  expect(reading).toMatchObject({ head: 1, changes: [{ sequence: 1, version: 0, storeId: "x", deleted: false }] });
});

test("stores 2: an update or take of a missing store commits straight to version 1, and reports 0 as the previous", async () => {
  const connector = openProbedDatabase().connect();
  const client = new CasStoreClient(connector);
  const updater = (draft: { n: number }): void => void draft.n++;
  expect(await client.updateStore({ definition: Counter, id: "u", updater })).toEqual({
    state: { n: 1 },
    previousVersion: 0,
    version: 1,
  });
  const taken = await client.takeFromStore({
    definition: Counter,
    id: "t",
    selector: () => "it",
    claim: (draft) => void draft.n++,
  });
  expect(taken).toEqual({ matched: true, selected: "it", instanceId: expect.stringMatching(uuid7), version: 1 });
  expect(await connector.readChanges({ after: 0, limit: 10 })).toMatchObject({
    changes: [{ version: 1 }, { version: 1 }],
    head: 2,
  });
});

test("stores 2: a take that misses leaves version 0 behind, and tells which instance and paths it saw", async () => {
  const connector = openProbedDatabase().connect();
  const client = new CasStoreClient(connector);
  const request = {
    definition: Board,
    id: "x",
    selector: (state: { title: string }) => state.title,
    claim: () => undefined,
  };
  const missed = await client.takeFromStore({ ...request, selector: (state) => state.title === "ready" });
  expect(missed).toEqual({
    matched: false,
    instanceId: expect.stringMatching(uuid7),
    version: 0,
    readPaths: [["title"]],
  });
  const { snapshot } = await connector.readStore({ storeName: "board", storeId: "x" });
  expect(snapshot).toMatchObject({ version: 0 });
});
