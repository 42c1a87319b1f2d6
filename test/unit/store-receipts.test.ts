import { expect, test, vi } from "vitest";
import { CasStoreClient } from "../../src/cas-store-client.js";
import {
  ExecutionForgottenError,
  InvalidArgumentError,
  OutcomeUnknownError,
  ReceiptMismatchError,
} from "../../src/protocol/errors.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { openProbedDatabase } from "../support/probed-database.js";

const stepId = { executionId: "run-1", stepKey: "step-1" };
const counter = { definition: Counter, id: "x" };

test("stores 9: a repeat answers the recorded result verbatim and runs no callback", async () => {
  const database = openProbedDatabase();
  const client = new CasStoreClient(database.connect());
  const snapshot = await client.getStore(counter);
  const step = (stepKey: string): { stepId: { executionId: string; stepKey: string } } => ({
    stepId: { executionId: "run-1", stepKey },
  });
  const updater = vi.fn<(draft: { n: number }) => void>((draft) => void (draft.n += 1));
  const selector = vi.fn<(state: { readonly n: number }) => { n: number }>((state) => ({ n: state.n }));
  const claim = vi.fn<(draft: { n: number }) => void>((draft) => void (draft.n += 10));
  const run = async (of: CasStoreClient, from: { instanceId: string; version: number }): Promise<unknown[]> => [
    await of.updateStoreFrom({ ...counter, snapshot: from, updater, ...step("from") }),
    await of.updateStore({ ...counter, updater, ...step("update") }),
    await of.takeFromStore({ ...counter, selector, claim, ...step("take") }),
    await of.transactStores({
      stores: { c: counter, b: { definition: Board, id: "y" } },
      updater: ({ c }) => updater(c),
      ...step("transact"),
    }),
  ];
  const first = await run(client, snapshot);
  expect(first).toEqual([
    { updated: true, state: { n: 1 }, previousVersion: 0, version: 1 },
    { state: { n: 2 }, previousVersion: 1, version: 2 },
    { matched: true, selected: { n: 2 }, instanceId: snapshot.instanceId, version: 3 },
    {
      c: { state: { n: 13 }, previousVersion: 3, version: 4 },
      b: { state: { count: 0, title: "", jobs: [] }, previousVersion: 0, version: 1 },
    },
  ]);
  for (const callback of [updater, selector, claim]) callback.mockClear();
  // Another client, other callbacks, a damaged snapshot, and the store deleted and made anew in between.
  await client.deleteStore(counter);
  await client.updateStore({ ...counter, updater: (draft) => void (draft.n = 500) });
  expect(await run(new CasStoreClient(database.connect()), {} as never)).toEqual(first);
  for (const callback of [updater, selector, claim]) expect(callback).not.toHaveBeenCalled();
  expect((await client.getStore(counter)).state).toEqual({ n: 500 });
});

test("stores 9: a repeated deletion answers that it deleted, and deletes nothing", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const snapshot = await client.getStore(counter);
  expect(await client.deleteStoreFrom({ ...counter, snapshot, stepId })).toEqual({ deleted: true });
  const again = await client.getStore(counter);
  expect(await client.deleteStoreFrom({ ...counter, snapshot: again, stepId })).toEqual({ deleted: true });
  expect(await client.listStores(Counter)).toEqual(["x"]);
});

test("stores 9: of racing duplicates one is applied, and all answer the same", async () => {
  const database = openProbedDatabase();
  const clients = Array.from({ length: 6 }, () => new CasStoreClient(database.connect()));
  const results = await Promise.all(
    clients.flatMap((client) => [
      client.updateStore({ ...counter, updater: (draft) => void draft.n++, stepId }),
      client.updateStore({ ...counter, updater: (draft) => void draft.n++, stepId }),
    ]),
  );
  for (const result of results) expect(result).toEqual({ state: { n: 1 }, previousVersion: 0, version: 1 });
  expect((await clients[0]?.getStore(counter))?.state).toEqual({ n: 1 });
});

test("stores 9: a receipt refuses to answer for another operation", async () => {
  const database = openProbedDatabase();
  const client = new CasStoreClient(database.connect());
  const updater = vi.fn<() => void>();
  await client.updateStore({ ...counter, updater, stepId });
  updater.mockClear();
  const snapshot = await client.getStore(counter);
  const others = [
    client.updateStoreFrom({ ...counter, snapshot, updater, stepId }),
    client.takeFromStore({ ...counter, selector: updater, claim: updater, stepId }),
    client.deleteStoreFrom({ ...counter, snapshot, stepId }),
    client.transactStores({ stores: { c: counter }, updater, stepId }),
    client.store(Counter, "x").take(updater, updater, { stepId }),
  ];
  for (const other of others) await expect(other).rejects.toThrow(ReceiptMismatchError);
  expect(updater).not.toHaveBeenCalled();
  expect((await client.getStore(counter)).version).toBe(1);
});

test("stores 9: a conflict or a miss is not recorded: the same step can still be applied", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const snapshot = await client.getStore(counter);
  await client.updateStore({ ...counter, updater: (draft) => void (draft.n = 1) });
  const missed = {
    ...counter,
    selector: (state: { readonly n: number }) => state.n > 5,
    claim: () => undefined,
    stepId,
  };
  expect(await client.takeFromStore(missed)).toMatchObject({ matched: false });
  expect(await client.updateStoreFrom({ ...counter, snapshot, updater: () => undefined, stepId })).toMatchObject({
    updated: false,
  });
  expect(await client.deleteStoreFrom({ ...counter, snapshot, stepId })).toMatchObject({ deleted: false });
  const present = await client.getStore(counter);
  expect(
    await client.updateStoreFrom({ ...counter, snapshot: present, updater: (draft) => void draft.n++, stepId }),
  ).toMatchObject({
    updated: true,
    version: 2,
  });
});

test("stores 9: after an execution is forgotten each late call of it is refused, with an old step or a new one", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const updater = vi.fn<(draft: { n: number }) => void>((draft) => void draft.n++);
  await client.updateStore({ ...counter, updater, stepId });
  await client.forgetExecution("run-1");
  await client.forgetExecution("run-1");
  updater.mockClear();
  for (const stepKey of ["step-1", "step-2"]) {
    const late = { stepId: { executionId: "run-1", stepKey } };
    await expect(client.updateStore({ ...counter, updater, ...late })).rejects.toThrow(ExecutionForgottenError);
    await expect(
      client.transactStores({ stores: { c: counter }, updater: () => updater({ n: 0 }), ...late }),
    ).rejects.toThrow(ExecutionForgottenError);
  }
  const waiter = {
    workflowId: "w",
    storeName: "counter",
    storeId: "x",
    instanceId: "i",
    sinceVersion: 0,
    readPaths: [[]],
  };
  await expect(client.registerWaiter({ ...waiter, ...stepId })).rejects.toThrow(ExecutionForgottenError);
  expect(updater).not.toHaveBeenCalled();
  expect((await client.getStore(counter)).version).toBe(1);
});

test("stores 9: an execution that is forgotten between the question and the commit is refused by the commit", async () => {
  const database = openProbedDatabase();
  const client = new CasStoreClient(database.connect());
  database.fault({ method: "commit", at: "before", act: () => client.forgetExecution("run-1") });
  const update = client.updateStore({ ...counter, updater: () => undefined, stepId });
  await expect(update).rejects.toThrow(ExecutionForgottenError);
  expect(await client.listStores(Counter)).toEqual([]);
});

test("stores 9: when the reply to a commit is lost, the receipt tells that it was applied, and no callback runs again", async () => {
  const database = openProbedDatabase();
  const client = new CasStoreClient(database.connect());
  const lost = new OutcomeUnknownError("the owner went away");
  const lose = (at: "before" | "after"): void =>
    database.fault({ method: "commit", at, act: () => Promise.reject(lost) });
  lose("after");
  const updater = vi.fn<(draft: { n: number }) => void>((draft) => void draft.n++);
  expect(await client.updateStore({ ...counter, updater, stepId })).toEqual({
    state: { n: 1 },
    previousVersion: 0,
    version: 1,
  });
  expect(updater).toHaveBeenCalledTimes(1);
  lose("before");
  const second = { executionId: "run-1", stepKey: "step-2" };
  expect(await client.updateStore({ ...counter, updater, stepId: second })).toMatchObject({
    state: { n: 2 },
    version: 2,
  });
  lose("after");
  await expect(client.updateStore({ ...counter, updater })).rejects.toBe(lost);
  expect(await client.getStore(counter)).toMatchObject({ state: { n: 3 }, version: 3 });
  expect(await client.updateStore({ ...counter, updater })).toMatchObject({ state: { n: 4 }, version: 4 });
});

test("stores 9: step ids are checked before anything is sent", async () => {
  const database = openProbedDatabase();
  const stores = createStores(database.connect("mine"));
  const handle = stores.store(Counter, "x");
  for (const bad of [
    { executionId: "", stepKey: "s" },
    { executionId: "e", stepKey: "k".repeat(1025) },
    { executionId: 5, stepKey: "s" },
  ]) {
    const options = { stepId: bad as { executionId: string; stepKey: string } };
    await expect(handle.update(() => undefined, options)).rejects.toThrow(InvalidArgumentError);
    await expect(
      handle.take(
        () => true,
        () => undefined,
        options,
      ),
    ).rejects.toThrow(InvalidArgumentError);
    await expect(stores.transact({ handle }, () => undefined, options)).rejects.toThrow(InvalidArgumentError);
  }
  expect(database.calls("mine")).toEqual([]);
});
