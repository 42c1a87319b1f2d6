import { expect, test, vi } from "vitest";
import { CasStoreClient } from "../../src/cas-store-client.js";
import { InvalidArgumentError, ReceiptMismatchError, ValidationFailedError } from "../../src/protocol/errors.js";
import { createStores } from "../../src/stores.js";
import { AsyncCounter, Board, Counter } from "../support/definitions.js";
import { openProbedDatabase } from "../support/probed-database.js";

test("stores 18: one updater edits several stores, in one commit with one sequence", async () => {
  const connector = openProbedDatabase().connect();
  const stores = createStores(connector);
  const from = stores.store(Counter, "from");
  const to = stores.store(Counter, "to");
  const log = stores.store(Board, "log");
  await from.update((draft) => void (draft.n = 10));
  const updates = await stores.transact({ from, to, log }, (drafts) => {
    drafts.from.n -= 3;
    drafts.to.n += 3;
    drafts.log = { count: 1, title: "moved 3", jobs: [] };
  });
  expect(updates).toEqual({
    from: { state: { n: 7 }, previousVersion: 1, version: 2 },
    to: { state: { n: 3 }, previousVersion: 0, version: 1 },
    log: { state: { count: 1, title: "moved 3", jobs: [] }, previousVersion: 0, version: 1 },
  });
  const reading = await connector.readChanges({ after: 1, limit: 10 });
  expect(reading).toMatchObject({
    head: 2,
    changes: [
      { sequence: 2, position: 0, storeId: "from" },
      { sequence: 2, position: 1, storeId: "to" },
      { sequence: 2, position: 2, storeId: "log" },
    ],
  });
});

test("stores 18: a conflict on any of the stores runs the updater again on all of them", async () => {
  const database = openProbedDatabase();
  const mine = createStores(database.connect("mine"));
  const other = createStores(database.connect("other"));
  const a = mine.store(Counter, "a");
  const b = mine.store(Counter, "b");
  await Promise.all([a.get(), b.get()]);
  let races = 2;
  database.fault({
    method: "commit",
    session: "mine",
    at: "before",
    times: races,
    act: async () => {
      await other.store(Counter, races-- === 2 ? "a" : "b").update((draft) => void (draft.n += 100));
    },
  });
  const seen: unknown[] = [];
  const updates = await mine.transact({ a, b }, (drafts) => {
    seen.push([drafts.a.n, drafts.b.n]);
    drafts.a.n += 1;
    drafts.b.n += 1;
  });
  expect(seen).toEqual([
    [0, 0],
    [100, 0],
    [100, 100],
  ]);
  expect(updates.b).toEqual({ state: { n: 101 }, previousVersion: 1, version: 2 });
});

test("stores 18: what fails for one store changes none of them", async () => {
  const stores = createStores(openProbedDatabase().connect());
  const counter = stores.store(Counter, "x");
  const judged = stores.store(AsyncCounter, "x");
  const board = stores.store(Board, "x");
  await counter.get();
  const stepId = { executionId: "e", stepKey: "s" };
  const refused = stores.transact(
    { counter, board, judged },
    (drafts) => {
      drafts.counter.n = 1;
      drafts.board.title = "changed";
      drafts.judged.n = -1;
    },
    { stepId },
  );
  await expect(refused).rejects.toThrow(ValidationFailedError);
  expect((await counter.get()).version).toBe(0);
  expect(await stores.list(Board)).toEqual([]);
  expect(await stores.transact({ counter }, (drafts) => void (drafts.counter.n = 2), { stepId })).toMatchObject({
    counter: { version: 1 },
  });
});

test("stores 18: a repeat composes the recorded results, under the names it asks for", async () => {
  const database = openProbedDatabase();
  const client = new CasStoreClient(database.connect("mine"));
  const a = { definition: Counter, id: "a" };
  const b = { definition: Counter, id: "b" };
  const stepId = { executionId: "e", stepKey: "s" };
  const updater = vi.fn<(drafts: { a: { n: number }; b: { n: number } }) => void>((drafts) => {
    drafts.a.n = 1;
    drafts.b.n = 2;
  });
  const first = await client.transactStores({ stores: { a, b }, updater, stepId });
  const again = vi.fn<() => void>();
  expect(await client.transactStores({ stores: { b, a }, updater: again, stepId })).toEqual(first);
  expect(await client.transactStores({ stores: { other: a, names: b }, updater: again, stepId })).toEqual({
    other: first.a,
    names: first.b,
  });
  expect(again).not.toHaveBeenCalled();
});

test("stores 18: the same step with other stores is refused, whichever stores they are, and changes nothing", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const of = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, { definition: Counter, id }]));
  const stepId = { executionId: "e", stepKey: "s" };
  await client.transactStores({ stores: of("a", "b"), updater: () => undefined, stepId });
  await client.updateStore({ definition: Counter, id: "c", updater: () => undefined });
  for (const stores of [of("a"), of("b"), of("a", "c"), of("c", "a"), of("a", "b", "c"), of("c", "b", "a")]) {
    await expect(client.transactStores({ stores, updater: () => undefined, stepId })).rejects.toThrow(
      ReceiptMismatchError,
    );
  }
  const versions = await Promise.all(["a", "b", "c"].map((id) => client.getStore({ definition: Counter, id })));
  expect(versions.map(({ version }) => version)).toEqual([1, 1, 1]);
});

test("stores 18: transactions over the same stores, in any order, neither block nor lose each other", async () => {
  const stores = createStores(openProbedDatabase().connect());
  const a = stores.store(Counter, "a");
  const b = stores.store(Counter, "b");
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => [
      index % 2 === 0
        ? stores.transact({ a, b }, (drafts) => {
            drafts.a.n += 1;
            drafts.b.n += 1;
          })
        : stores.transact({ b, a }, (drafts) => {
            drafts.b.n += 1;
            drafts.a.n += 1;
          }),
      a.update((draft) => void draft.n++),
    ]).flat(),
  );
  expect((await a.get()).state.n).toBe(40);
  expect((await b.get()).state.n).toBe(20);
});

test("stores Limits: a transaction has 1 to 1,000 stores, each of them once", async () => {
  const database = openProbedDatabase();
  const stores = createStores(database.connect("mine"));
  const handles = (count: number): Record<string, ReturnType<typeof stores.store<{ n: number }>>> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, stores.store(Counter, `${index}`)]));
  const a = stores.store(Counter, "a");
  for (const bad of [{}, handles(1001), { a, b: stores.store(Counter, "a") }]) {
    await expect(stores.transact(bad, () => undefined)).rejects.toThrow(InvalidArgumentError);
  }
  expect(database.calls("mine")).toEqual([]);
  const updates = await stores.transact(handles(1000), (drafts) => {
    for (const draft of Object.values(drafts)) draft.n = 1;
  });
  expect(Object.keys(updates)).toHaveLength(1000);
  expect(await stores.list(Counter)).toHaveLength(1000);
});
