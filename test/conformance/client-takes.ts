/** Takes and waits: what matches, what is claimed, what wakes whom (stores 7, 8, 12, 26). */
import { expect } from "vitest";
import { AbortedError } from "../../src/protocol/errors.js";
import { type Board, Boards, head, type Item, openClient, type TestClient } from "./client.js";
import { type ConformanceCase, restart } from "./conformance-case.js";
import { errorOf } from "./requests.js";

const address = { definition: Boards, id: "a" };
const items = (...ids: readonly string[]): Item[] => ids.map((id) => ({ id, done: false }));
const nothing = (): void => undefined;

async function put(client: TestClient["client"], next: Partial<Board>, id = "a"): Promise<void> {
  await client.updateStore({
    definition: Boards,
    id,
    updater: (draft) => void Object.assign(draft, structuredClone(next)),
  });
}

export const takeCases: readonly ConformanceCase[] = [
  {
    name: "stores 8: a selector matches unless its result is undefined, null or false",
    run: async (database) => {
      const { client } = await openClient(database);
      const take = (result: unknown) => client.takeFromStore({ ...address, selector: () => result, claim: nothing });
      for (const result of [0, "", [], {}, true, "false"]) {
        expect(await take(result)).toMatchObject({ matched: true, selected: result });
      }
      for (const result of [undefined, null, false]) expect(await take(result)).toMatchObject({ matched: false });
    },
  },
  {
    name: "stores 8: what is selected is returned as it is after the claim, and both are one version",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await put(client, { items: items("a", "b") });
      const before = await head(connector);
      const taken = await client.takeFromStore({
        ...address,
        selector: (board) => board.items.find((item) => !item.done),
        claim: (draft, item) => {
          item.done = true;
          draft.count += 1;
        },
      });
      expect(taken).toMatchObject({ matched: true, selected: { id: "a", done: true }, version: 2 });
      expect(await head(connector)).toBe(before + 1);
      const { state } = await client.getStore(address);
      expect(state).toMatchObject({
        count: 1,
        items: [
          { id: "a", done: true },
          { id: "b", done: false },
        ],
      });
    },
  },
  {
    name: "stores 8: a claim can edit the nodes of a filtered list, a mapped one, or an object around them",
    run: async (database) => {
      const { client } = await openClient(database);
      await put(client, { items: items("a", "b", "c") });
      const filtered = await client.takeFromStore({
        ...address,
        selector: (board) => board.items.filter((item) => item.id !== "b"),
        claim: (_, selected) => {
          for (const item of selected) item.done = true;
        },
      });
      expect(filtered).toMatchObject({
        selected: [
          { id: "a", done: true },
          { id: "c", done: true },
        ],
      });
      const wrapped = await client.takeFromStore({
        ...address,
        selector: (board) => ({ item: board.items.find((item) => !item.done), total: board.items.length }),
        claim: (draft, { item }) => {
          if (item !== undefined) draft.items.splice(draft.items.indexOf(item), 1);
        },
      });
      expect(wrapped).toMatchObject({ selected: { item: { id: "b" }, total: 3 } });
      const { state } = await client.getStore(address);
      expect(state.items).toEqual([
        { id: "a", done: true },
        { id: "c", done: true },
      ]);
    },
  },
  {
    name: "stores 8: a miss commits nothing and records nothing, so that the step can still take",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await put(client, {});
      const before = await head(connector);
      const stepId = { executionId: "E", stepKey: "take" };
      const request = { ...address, selector: (board: Board) => board.items[0]?.id, claim: nothing, stepId };
      const missed = await client.takeFromStore(request);
      expect(missed).toMatchObject({ matched: false, version: 1 });
      expect(await head(connector)).toBe(before);
      await put(client, { items: items("late") });
      expect(await client.takeFromStore(request)).toMatchObject({ matched: true, selected: "late" });
    },
  },
  {
    name: "stores 8: takers that race for a list take each item once",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([openClient(database), openClient(database), openClient(database)]);
      const ids = Array.from({ length: 15 }, (_, index) => `item-${index}`);
      await put(peers[0].client, { items: items(...ids) });
      const taken = await Promise.all(
        peers.map(async ({ client }) => {
          const mine: string[] = [];
          for (let times = 0; times < 5; times++) {
            const selected = await client.store(Boards, "a").take(
              (board) => board.items[0],
              (draft) => void draft.items.shift(),
            );
            mine.push(selected.id);
          }
          return mine;
        }),
      );
      expect(taken.flat().sort()).toEqual([...ids].sort());
    },
  },
  {
    name: "stores 12: a take waits for what another client commits, and so does `when`, which changes nothing",
    needs: ["peers"],
    run: async (database) => {
      const [waiter, writer] = await Promise.all([openClient(database), openClient(database)]);
      const handle = waiter.client.store(Boards, "a");
      // What stays: a value that is there for a moment only may be missed.
      const seen = handle.when((board) => board.items[0]?.id);
      const taken = handle.take(
        (board) => board.items.find((item) => item.id === "wanted"),
        (draft, item) => void draft.items.splice(draft.items.indexOf(item), 1),
      );
      await put(writer.client, { items: items("other") });
      await put(writer.client, { items: items("other", "wanted") });
      expect(await taken).toEqual({ id: "wanted", done: false });
      expect(await seen).toBe("other");
      expect((await writer.client.getStore(address)).state.items).toEqual(items("other"));
    },
  },
  {
    name: "stores 12: a wait outlives its owner",
    needs: ["peers", "restart", "durable"],
    options: { restarts: 1 },
    run: async (database) => {
      const [waiter, writer] = await Promise.all([openClient(database), openClient(database)]);
      const found = waiter.client.store(Boards, "a").when((board) => board.items[0]?.id);
      await put(writer.client, { count: 1 });
      await restart(database);
      await put(writer.client, { items: items("after") });
      expect(await found).toBe("after");
    },
  },
  {
    name: "stores 14: a wait ends by its signal with the reason, or at its deadline with an outcome",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const handle = client.store(Boards, "a");
      const controller = new AbortController();
      const reason = new Error("enough");
      const waits = [
        handle.when((board) => board.items[0], { signal: controller.signal }),
        handle.take((board) => board.items[0], nothing, { signal: controller.signal }),
      ].map((wait) => errorOf(wait));
      await put(client, { count: 1 });
      controller.abort(reason);
      for (const error of await Promise.all(waits)) {
        expect(error).toBeInstanceOf(AbortedError);
        expect((error as AbortedError).cause).toBe(reason);
      }
      const deadline = Date.now() + 20;
      expect(await handle.when((board) => board.items[0], { deadline })).toEqual({ status: "timed-out" });
      expect(await handle.take((board) => board.items[0], nothing, { deadline })).toEqual({ status: "timed-out" });
      const soon = { deadline: Date.now() + 60_000 };
      expect(await handle.when((board) => board.count, soon)).toEqual({ status: "matched", value: 1 });
      const taken = await handle.take(
        (board) => board.count,
        (draft) => void (draft.count = 5),
        soon,
      );
      expect(taken).toEqual({ status: "matched", selected: 1 });
      expect(await head(connector)).toBe(2);
    },
  },
  {
    name: "stores 7: deleting a store re-evaluates what waits for it, against its initial state",
    needs: ["peers"],
    run: async (database) => {
      const [waiter, writer] = await Promise.all([openClient(database), openClient(database)]);
      for (const leave of ["deleteStore", "deleteStoreFrom"] as const) {
        await put(writer.client, { count: 7 });
        const snapshot = await writer.client.getStore(address);
        const emptied = waiter.client.store(Boards, "a").when((board) => board.count === 0 && "empty");
        const seen = await waiter.client.store(Boards, "a").when((board) => board.count);
        expect(seen).toBe(7);
        await writer.client[leave]({ ...address, snapshot });
        expect(await emptied).toBe("empty");
      }
    },
  },
  {
    name: "stores 7: deleteFrom deletes what it saw, reports what has changed, and answers a repeat by its receipt",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const old = await client.getStore(address);
      await put(client, { count: 1 });
      const { instanceId } = old;
      expect(await client.deleteStoreFrom({ ...address, snapshot: old })).toEqual({
        deleted: false,
        reason: "conflict",
        expectedInstanceId: instanceId,
        actualInstanceId: instanceId,
        expectedVersion: 0,
        actualVersion: 1,
      });
      const stepId = { executionId: "E", stepKey: "delete" };
      const snapshot = await client.getStore(address);
      expect(await client.deleteStoreFrom({ ...address, snapshot, stepId })).toEqual({ deleted: true });
      expect(await client.listStores(Boards)).toEqual([]);
      await put(client, { count: 2 });
      const before = await head(connector);
      expect(await client.deleteStoreFrom({ ...address, snapshot, stepId })).toEqual({ deleted: true });
      expect(await head(connector)).toBe(before);
    },
  },
  {
    name: "stores 26: a waiter on what a selector read is woken by a change of that, and not by one beside it",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await put(client, { users: { alice: { name: "Alice", age: 30 }, bob: { name: "Bob", age: 40 } } });
      const missed = await client.takeFromStore({
        ...address,
        selector: (board) => board.users["alice"]?.name === "Alicia",
        claim: nothing,
      });
      if (missed.matched) throw new Error("Nobody is called Alicia yet.");
      const step = { executionId: "E", stepKey: "wait", workflowId: "names" };
      const { instanceId, version: sinceVersion, readPaths } = missed;
      const waiter = { ...step, storeName: "board", storeId: "a", instanceId, sinceVersion, readPaths };
      expect(await client.registerWaiter(waiter)).toEqual({ status: "registered" });
      const update = (updater: (draft: { users: Record<string, { name: string; age: number }> }) => void) =>
        client.updateStore({ ...address, updater });
      await update(({ users }) => void (users["bob"] = { name: "Bobby", age: 41 }));
      await update(({ users }) => Object.assign(users["alice"] ?? {}, { age: 31 }) && undefined);
      await update(({ users }) => void (users["carol"] = { name: "Carol", age: 50 }));
      expect(await connector.readWakes({ limit: 10, claim: false })).toEqual([]);
      await update(({ users }) => Object.assign(users["alice"] ?? {}, { name: "Alicia" }) && undefined);
      expect(await connector.readWakes({ limit: 10, claim: false })).toMatchObject([{ executionId: "E" }]);
    },
  },
];
