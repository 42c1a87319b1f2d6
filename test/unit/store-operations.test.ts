import { expect, test, vi } from "vitest";
import { CasStoreClient } from "../../src/cas-store-client.js";
import { AbortedError, InvalidArgumentError, StoreChangedTooOftenError } from "../../src/protocol/errors.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { gate, openProbedDatabase } from "../support/probed-database.js";

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
