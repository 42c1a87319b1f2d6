/** Calls with a step id, through a client (stores 9, 18). */
import { expect } from "vitest";
import type { StepId } from "../../src/protocol/connector.js";
import { ExecutionForgottenError, InvalidArgumentError, ReceiptMismatchError } from "../../src/protocol/errors.js";
import type { StoreClient } from "../../src/store-client.js";
import { type Board, Boards, expectRefused, head, openClient } from "./client.js";
import { type ConformanceCase, restart } from "./conformance-case.js";

const address = { definition: Boards, id: "a" };
const stepId: StepId = { executionId: "E", stepKey: "step" };

/** Each kind of call with a step id. `onCallback` hears of every callback that runs. */
function callsOf(client: StoreClient, onCallback: () => void): Record<string, (step: StepId) => Promise<unknown>> {
  const edit = (draft: { count: number }): void => {
    onCallback();
    draft.count += 1;
  };
  const selector = (board: Board): number => {
    onCallback();
    return board.count;
  };
  return {
    update: (step) => client.updateStore({ ...address, updater: edit, stepId: step }),
    updateFrom: async (step) =>
      client.updateStoreFrom({ ...address, snapshot: await client.getStore(address), updater: edit, stepId: step }),
    take: (step) => client.takeFromStore({ ...address, selector, claim: edit, stepId: step }),
    handleTake: (step) => client.store(Boards, "a").take(selector, edit, { stepId: step }),
    transact: (step) => client.transactStores({ stores: { a: address }, updater: ({ a }) => edit(a), stepId: step }),
    deleteFrom: async (step) =>
      client.deleteStoreFrom({ ...address, snapshot: await client.getStore(address), stepId: step }),
  };
}

export const stepCases: readonly ConformanceCase[] = [
  {
    name: "stores 9: a repeated call returns what was recorded, word for word, runs no callback and writes nothing",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      let callbacks = 0;
      for (const [name, call] of Object.entries(callsOf(client, () => (callbacks += 1)))) {
        const step = { executionId: "E", stepKey: name };
        const first = await call(step);
        await client.updateStore({ ...address, updater: (draft) => void (draft.count += 100) });
        const [ran, before] = [callbacks, await head(connector)];
        expect(await call(step)).toEqual(first);
        expect(JSON.stringify(await call(step))).toBe(JSON.stringify(await call(step)));
        expect([callbacks, await head(connector)]).toEqual([ran, before]);
      }
    },
  },
  {
    name: "stores 9: another client that repeats the step gets the same, also after the store was deleted and recreated",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([openClient(database), openClient(database)]);
      const first = await one.client.updateStore({ ...address, updater: (draft) => void (draft.count = 5), stepId });
      await one.client.deleteStore(address);
      await one.client.getStore(address);
      const repeat = await other.client.updateStore({ ...address, updater: (draft) => void (draft.count = 6), stepId });
      expect(repeat).toEqual(first);
      expect(await other.client.getStore(address)).toMatchObject({ state: { count: 0 }, version: 0 });
    },
  },
  {
    name: "stores 9: racing duplicates make one mutation, and all get equal results",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([openClient(database), openClient(database), openClient(database)]);
      const results = await Promise.all(
        [...peers, ...peers].map(({ client }, index) =>
          client.updateStore({ ...address, updater: (draft) => void (draft.count += index + 1), stepId }),
        ),
      );
      for (const result of results) expect(result).toEqual(results[0]);
      expect(await peers[0].client.getStore(address)).toMatchObject({ version: 1, state: results[0]?.state });
    },
  },
  {
    name: "stores 9: a receipt that is of another operation is a typed error",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.getStore(address);
      const calls = callsOf(client, () => undefined);
      for (const [name, call] of Object.entries(calls)) await call({ executionId: "E", stepKey: name });
      await client.getStore(address);
      for (const used of ["update", "updateFrom", "take", "transact", "deleteFrom"]) {
        for (const [name, call] of Object.entries(calls)) {
          if (name === used || (used === "take" && name === "handleTake")) continue;
          await expectRefused(connector, ReceiptMismatchError, () => call({ executionId: "E", stepKey: used }));
        }
      }
    },
  },
  {
    name: "stores 18: a transaction's step that was used for other stores is a typed error",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const b = { definition: Boards, id: "b" };
      const c = { definition: Boards, id: "c" };
      const increment = (drafts: Record<string, { count: number }>): void => {
        for (const draft of Object.values(drafts)) draft.count += 1;
      };
      const transact = (stores: Record<string, typeof address>) =>
        client.transactStores({ stores, updater: increment, stepId });
      const first = await transact({ a: address, b });
      await client.getStore(c);
      expect(await transact({ a: address, b })).toEqual(first);
      for (const stores of [{ a: address }, { b }, { a: address, c }, { a: address, b, c }, { c, b }]) {
        await expectRefused(connector, ReceiptMismatchError, () => transact(stores));
      }
    },
  },
  {
    name: "stores 9: a forgotten execution is refused, with an old step and a new one, whatever the call",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.updateStore({ ...address, updater: (draft) => void (draft.count = 1), stepId });
      await client.forgetExecution("E");
      for (const call of Object.values(callsOf(client, () => undefined))) {
        for (const stepKey of ["step", "new"]) {
          await expectRefused(connector, ExecutionForgottenError, () => call({ executionId: "E", stepKey }));
        }
      }
      const { instanceId, version: sinceVersion } = await client.getStore(address);
      const waiter = { workflowId: "W", ...stepId, storeName: "board", storeId: "a", instanceId, sinceVersion };
      await expectRefused(connector, ExecutionForgottenError, () =>
        client.registerWaiter({ ...waiter, readPaths: [[]] }),
      );
      await client.forgetExecution("E");
    },
  },
  {
    name: "stores 9: a step id that cannot be one is refused before anything happens",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.getStore(address);
      let callbacks = 0;
      for (const bad of ["", "x".repeat(1025), "\0", "\ud800"]) {
        for (const call of Object.values(callsOf(client, () => (callbacks += 1)))) {
          await expectRefused(connector, InvalidArgumentError, () => call({ executionId: bad, stepKey: "step" }));
          await expectRefused(connector, InvalidArgumentError, () => call({ executionId: "E", stepKey: bad }));
        }
      }
      expect(callbacks).toBe(0);
    },
  },
  {
    name: "stores 9: a step is applied once, whichever owner answers its repeats",
    needs: ["restart", "durable"],
    options: { restarts: 1 },
    run: async (database) => {
      const { client } = await openClient(database);
      const call = () => client.updateStore({ ...address, updater: (draft) => void (draft.count += 1), stepId });
      const first = await call();
      await restart(database);
      expect(await call()).toEqual(first);
      expect(await client.getStore(address)).toMatchObject({ state: { count: 1 }, version: 1 });
    },
  },
];
