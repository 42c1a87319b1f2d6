import { expect, test, vi } from "vitest";
import { z } from "zod";
import { CasStoreClient } from "../../src/cas-store-client.js";
import { defineStore } from "../../src/define-store.js";
import { AbortedError, InvalidArgumentError, StoreChangedTooOftenError } from "../../src/protocol/errors.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { gate, openProbedDatabase } from "../support/probed-database.js";

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

test("stores 4: an update that loses a race runs again on the newer state", async () => {
  const database = openProbedDatabase();
  const mine = createStores(database.connect()).store(Counter, "x");
  const other = createStores(database.connect()).store(Counter, "x");
  await mine.get();
  database.fault({
    method: "commit",
    at: "before",
    act: async () => void (await other.update((draft) => void (draft.n += 10))),
  });
  const seen: number[] = [];
  const updated = await mine.update((draft) => {
    seen.push(draft.n);
    draft.n += 1;
  });
  expect(seen).toEqual([0, 10]);
  expect(updated).toEqual({ state: { n: 11 }, previousVersion: 1, version: 2 });
});

test("stores 4: an update whose store is deleted meanwhile starts from the initial state of a new instance", async () => {
  const database = openProbedDatabase();
  const mine = createStores(database.connect());
  const other = createStores(database.connect());
  const before = await mine.store(Counter, "x").update((draft) => void (draft.n = 5));
  database.fault({ method: "commit", at: "before", act: () => other.delete(Counter, "x") });
  const after = await mine.store(Counter, "x").update((draft) => void draft.n++);
  expect(before.version).toBe(1);
  expect(after).toEqual({ state: { n: 1 }, previousVersion: 0, version: 1 });
});

test("stores 4: the hundredth lost race in a row is a typed error, and nothing was committed by the call", async () => {
  const database = openProbedDatabase();
  const mine = createStores(database.connect("mine"));
  const other = database.connect("other");
  const otherStores = createStores(other).store(Counter, "x");
  await otherStores.get();
  database.fault({
    method: "commit",
    session: "mine",
    at: "before",
    times: 1000,
    act: async () => void (await otherStores.update((draft) => void draft.n++)),
  });
  let runs = 0;
  const losing = mine.store(Counter, "x").update((draft) => {
    runs += 1;
    draft.n = -1;
  });
  await expect(losing).rejects.toThrow(StoreChangedTooOftenError);
  expect(runs).toBe(100);
  expect((await otherStores.get()).state).toEqual({ n: 100 });
});

test("stores 4: a signal that aborts before the commit is sent ends the call, and nothing is written", async () => {
  const database = openProbedDatabase();
  const stores = createStores(database.connect());
  const handle = stores.store(Counter, "x");
  const reason = new Error("changed my mind");
  const aborted = AbortSignal.abort(reason);
  const error = await handle.update(() => undefined, { signal: aborted }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AbortedError);
  expect((error as AbortedError).cause).toBe(reason);

  const controller = new AbortController();
  const inUpdater = handle.update(
    (draft) => {
      draft.n = 99;
      controller.abort(reason);
    },
    { signal: controller.signal },
  );
  await expect(inUpdater).rejects.toMatchObject({ code: "aborted", cause: reason });
  expect(await stores.list(Counter)).toEqual([]);
});

test("stores 4: a signal that aborts once the commit is sent has no power over it", async () => {
  const database = openProbedDatabase();
  const handle = createStores(database.connect()).store(Counter, "x");
  const controller = new AbortController();
  database.fault({ method: "commit", at: "after", act: () => controller.abort() });
  const updated = await handle.update((draft) => void draft.n++, { signal: controller.signal });
  expect(updated.version).toBe(1);
});

test("stores 4: a call that is aborted while others are in front of it never runs, and they keep their order", async () => {
  const database = openProbedDatabase();
  const handle = createStores(database.connect()).store(Board, "x");
  const held = gate();
  database.fault({ method: "commit", at: "before", act: () => held.opened });
  const controller = new AbortController();
  const append = (letter: string, signal?: AbortSignal): Promise<unknown> =>
    handle.update((draft) => void (draft.title += letter), signal === undefined ? {} : { signal });
  const first = append("a");
  const second = append("b", controller.signal);
  const third = append("c");
  controller.abort();
  await expect(second).rejects.toThrow(AbortedError);
  held.open();
  await Promise.all([first, third]);
  expect((await handle.get()).state.title).toBe("ac");
});

test("stores 4: a hundred updates of one client at once each apply exactly once, in the order of the calls", async () => {
  const database = openProbedDatabase();
  const stores = createStores(database.connect());
  const conflicts = vi.fn<() => void>();
  stores.on("conflict", conflicts);
  const handle = stores.store(Board, "x");
  const updates = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      handle.update((draft) => {
        draft.title += `${index},`;
      }),
    ),
  );
  expect(updates.map(({ version }) => version)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect((await handle.get()).state.title).toBe(Array.from({ length: 100 }, (_, index) => `${index},`).join(""));
  expect(conflicts).not.toHaveBeenCalled();
});

test("stores 6: a conflict is returned, never retried, and runs no updater", async () => {
  const database = openProbedDatabase();
  const handle = createStores(database.connect("mine")).store(Counter, "x");
  const snapshot = await handle.get();
  await handle.update((draft) => void draft.n++);
  const updater = vi.fn<() => void>();
  expect(await handle.updateFrom(snapshot, updater)).toEqual({
    updated: false,
    expectedInstanceId: snapshot.instanceId,
    actualInstanceId: snapshot.instanceId,
    expectedVersion: 0,
    actualVersion: 1,
  });
  expect(updater).not.toHaveBeenCalled();
  expect((await handle.get()).version).toBe(1);
});

test("stores 6: a race that is lost while the commit is on its way is returned as a conflict, too", async () => {
  const database = openProbedDatabase();
  const handle = createStores(database.connect("mine")).store(Counter, "x");
  const other = createStores(database.connect("other")).store(Counter, "x");
  const snapshot = await handle.get();
  database.fault({
    method: "commit",
    session: "mine",
    at: "before",
    act: async () => void (await other.update((draft) => void draft.n++)),
  });
  const outcome = await handle.updateFrom(snapshot, (draft) => void (draft.n = 50));
  expect(outcome).toMatchObject({ updated: false, expectedVersion: 0, actualVersion: 1 });
  expect((await other.get()).state).toEqual({ n: 1 });
});

test("stores 6: what only another tab has seen so far counts: a snapshot newer than the cache is not a conflict", async () => {
  const database = openProbedDatabase();
  database.filterEvents(() => false);
  const handle = createStores(database.connect()).store(Counter, "x");
  const other = createStores(database.connect()).store(Counter, "x");
  const { instanceId } = await handle.get();
  const { version } = await other.update((draft) => void draft.n++);
  expect(await handle.updateFrom({ instanceId, version }, (draft) => void draft.n++)).toMatchObject({
    updated: true,
    version: 2,
  });
});

test("stores 6: a missing store is created at version 0 and reported as a conflict", async () => {
  const handle = createStores(openProbedDatabase().connect()).store(Counter, "x");
  const snapshot = await handle.get();
  expect(await handle.deleteFrom(snapshot)).toEqual({ deleted: true });
  const outcome = await handle.updateFrom(snapshot, (draft) => void draft.n++);
  const present = await handle.get();
  expect(outcome).toEqual({
    updated: false,
    expectedInstanceId: snapshot.instanceId,
    actualInstanceId: present.instanceId,
    expectedVersion: 0,
    actualVersion: 0,
  });
  expect(present.instanceId).not.toBe(snapshot.instanceId);
  expect(present.state).toEqual({ n: 0 });
});

test("stores 6: the updater runs on what is stored, not on the caller's copy", async () => {
  const handle = createStores(openProbedDatabase().connect()).store(Board, "x");
  await handle.update((draft) => void draft.jobs.push({ id: "a", done: false }));
  const snapshot = await handle.get();
  (snapshot.state.jobs as unknown[]).push("smuggled");
  const outcome = await handle.updateFrom(snapshot, (draft) => void draft.count++);
  expect(outcome).toMatchObject({ updated: true, version: 2, state: { count: 1, jobs: [{ id: "a", done: false }] } });
});

test("stores 6: a snapshot that names no instance throws, and creates nothing", async () => {
  const stores = createStores(openProbedDatabase().connect());
  const handle = stores.store(Counter, "x");
  const damaged = [{}, { instanceId: null, version: null }, { instanceId: "", version: 0 }, { instanceId: "a" }, null];
  for (const snapshot of damaged) {
    const reference = snapshot as unknown as { instanceId: string; version: number };
    await expect(handle.updateFrom(reference, () => undefined)).rejects.toThrow(InvalidArgumentError);
    await expect(handle.deleteFrom(reference)).rejects.toThrow(InvalidArgumentError);
  }
  expect(await stores.list(Counter)).toEqual([]);
});

test("stores 7: deleting what has changed is a conflict, and what is unchanged goes", async () => {
  const stores = createStores(openProbedDatabase().connect());
  const handle = stores.store(Counter, "x");
  const snapshot = await handle.get();
  await handle.update((draft) => void draft.n++);
  expect(await handle.deleteFrom(snapshot)).toEqual({
    deleted: false,
    reason: "conflict",
    expectedInstanceId: snapshot.instanceId,
    actualInstanceId: snapshot.instanceId,
    expectedVersion: 0,
    actualVersion: 1,
  });
  expect(await handle.deleteFrom(await handle.get())).toEqual({ deleted: true });
  expect(await stores.list(Counter)).toEqual([]);
});

test("stores 7: deleting by id is idempotent, whatever there is", async () => {
  const stores = createStores(openProbedDatabase().connect());
  await stores.store(Counter, "x").update((draft) => void draft.n++);
  await stores.delete(Counter, "x");
  await stores.delete(Counter, "x");
  await stores.delete(Counter, "never there");
  expect(await stores.list(Counter)).toEqual([]);
});

test("stores 7: a waiter on a deleted store is woken", async () => {
  const database = openProbedDatabase();
  const connector = database.connect();
  const client = new CasStoreClient(connector);
  const { instanceId, version } = await client.getStore({ definition: Counter, id: "x" });
  const registered = await client.registerWaiter({
    workflowId: "w",
    executionId: "e",
    stepKey: "s",
    storeName: "counter",
    storeId: "x",
    instanceId,
    sinceVersion: version,
    readPaths: [["n"]],
  });
  expect(registered).toEqual({ status: "registered" });
  await client.deleteStore({ definition: Counter, id: "x" });
  expect(await connector.readWakes({ limit: 10, claim: false })).toMatchObject([{ executionId: "e" }]);
});

test("stores 8: 0, the empty text and the empty list match; undefined, null and false do not", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const attempt = (result: unknown): Promise<{ matched: boolean }> =>
    client.takeFromStore({ definition: Counter, id: "x", selector: () => result, claim: () => undefined });
  for (const found of [0, "", [], {}, true])
    expect(await attempt(found)).toMatchObject({ matched: true, selected: found });
  for (const missed of [undefined, null, false]) expect(await attempt(missed)).toMatchObject({ matched: false });
});

test("stores 8: what is selected is a part of the state or made of parts, and is answered as it is after the claim", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const address = { definition: Board, id: "x" };
  await client.updateStore({
    ...address,
    updater: (draft) => void draft.jobs.push({ id: "a", done: false }, { id: "b", done: false }),
  });
  const part = await client.takeFromStore({
    ...address,
    selector: (state) => state.jobs.find(({ done }) => !done),
    claim: (_draft, job) => {
      job.done = true;
    },
  });
  expect(part).toMatchObject({ matched: true, selected: { id: "a", done: true }, version: 2 });
  const derived = await client.takeFromStore({
    ...address,
    selector: (state) => ({ open: state.jobs.filter(({ done }) => !done) }),
    claim: (draft, { open }) => {
      draft.count = open.length;
      for (const job of open) job.done = true;
    },
  });
  expect(derived).toMatchObject({ matched: true, selected: { open: [{ id: "b", done: true }] }, version: 3 });
  expect((await client.getStore(address)).state).toEqual({
    count: 1,
    title: "",
    jobs: [
      { id: "a", done: true },
      { id: "b", done: true },
    ],
  });
});

test("stores 8: a miss is told only of a state that was read during the call", async () => {
  const database = openProbedDatabase();
  database.filterEvents(() => false);
  const client = new CasStoreClient(database.connect());
  const other = createStores(database.connect()).store(Board, "x");
  const request = {
    definition: Board,
    id: "x",
    selector: (state: { readonly title: string }) => state.title === "ready" && state.title,
    claim: () => undefined,
  };
  expect(await client.takeFromStore(request)).toMatchObject({ matched: false, version: 0 });
  await other.update((draft) => void (draft.title = "ready"));
  expect(await client.takeFromStore(request)).toMatchObject({ matched: true, selected: "ready" });
});

test("stores Public surface: ids are listed by their UTF-8 bytes, page by page, those of one definition only", async () => {
  const connector = openProbedDatabase().connect();
  const client = new CasStoreClient(connector);
  const ids = ["b", "a", "é", "\u{1F600}", "\uFFFD", "a\u0001"];
  for (const id of ids) await client.getStore({ definition: Counter, id });
  await client.getStore({ definition: Board, id: "other" });
  expect(await client.listStores(Counter)).toEqual(["a", "a\u0001", "b", "é", "\uFFFD", "\u{1F600}"]);
});
