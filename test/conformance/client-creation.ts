/** Which calls of a client create a store, and at which version (stores 1, 2). */
import { expect } from "vitest";
import { type Board, Boards, boardsNamed, emptyBoard, head, openClient, eventually } from "./client.js";
import type { ConformanceCase } from "./conformance-case.js";

const never = { instanceId: "00000000-0000-7000-8000-000000000000", version: 3 };
const address = { definition: Boards, id: "a" };

export const creationCases: readonly ConformanceCase[] = [
  {
    name: "stores 2: getting a missing store inserts its version 0, as a change with a sequence of its own",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const { state, instanceId, version } = await client.getStore(address);
      expect({ state, version }).toEqual({ state: emptyBoard, version: 0 });
      expect(instanceId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
      const feed = await connector.readChanges({ after: 0, limit: 10 });
      expect(feed).toMatchObject({ head: 1, changes: [{ storeName: "board", storeId: "a", instanceId, version: 0 }] });
      expect(await client.getStore(address)).toMatchObject({ instanceId, version: 0 });
      expect(await head(connector)).toBe(1);
    },
  },
  {
    name: "stores 2: an update of a missing store commits straight to version 1",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const written = await client.updateStore({ ...address, updater: (draft) => void (draft.count += 1) });
      expect(written).toEqual({ state: { ...emptyBoard, count: 1 }, previousVersion: 0, version: 1 });
      const feed = await connector.readChanges({ after: 0, limit: 10 });
      expect(feed).toMatchObject({ head: 1, changes: [{ version: 1 }] });
    },
  },
  {
    name: "stores 2: a take of a missing store commits to version 1 if it matches, and inserts version 0 if not",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const claim = (draft: { count: number }): void => void (draft.count += 1);
      const missed = await client.takeFromStore({ ...address, selector: (board) => board.items[0], claim });
      expect(missed).toMatchObject({ matched: false, version: 0 });
      expect(await client.getStore(address)).toMatchObject({ instanceId: missed.instanceId, version: 0 });
      const matched = await client.takeFromStore({ definition: Boards, id: "b", selector: () => "found", claim });
      expect(matched).toMatchObject({ matched: true, selected: "found", version: 1 });
      expect(await client.getStore({ definition: Boards, id: "b" })).toMatchObject({
        instanceId: matched.instanceId,
        state: { count: 1 },
      });
      const feed = await connector.readChanges({ after: 0, limit: 10 });
      expect(feed).toMatchObject({ head: 2, changes: [{ version: 0 }, { version: 1 }] });
    },
  },
  {
    name: "stores 1: updateFrom and deleteFrom create a missing store, and report the conflict with it",
    run: async (database) => {
      const { client } = await openClient(database);
      const update = await client.updateStoreFrom({
        ...address,
        snapshot: never,
        updater: (draft) => void (draft.count = 9),
      });
      const { instanceId } = await client.getStore(address);
      const conflict = {
        expectedInstanceId: never.instanceId,
        expectedVersion: 3,
        actualInstanceId: instanceId,
        actualVersion: 0,
      };
      expect(update).toEqual({ updated: false, ...conflict });
      const other = { definition: Boards, id: "b" };
      const deletion = await client.deleteStoreFrom({ ...other, snapshot: never });
      const { instanceId: actualInstanceId } = await client.getStore(other);
      expect(deletion).toEqual({ deleted: false, reason: "conflict", ...conflict, actualInstanceId });
      expect((await client.getStore(address)).state).toEqual(emptyBoard);
    },
  },
  {
    name: "stores 1: listing and deleting create nothing",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      expect(await client.listStores(Boards)).toEqual([]);
      await client.deleteStore(address);
      await client.deleteStore(address);
      expect(await head(connector)).toBe(0);
    },
  },
  {
    name: "stores 1: waiting from a handle creates nothing: it sees the initial state, made once for each client",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      let made = 0;
      const waiting = boardsNamed("waiting", (id) => {
        made += 1;
        return { ...emptyBoard, users: { [id]: { name: id, age: 1 } } };
      });
      const handle = client.store(waiting, "a");
      const deadline = Date.now();
      expect(await handle.when((board) => board.users["a"]?.name)).toBe("a");
      expect(await handle.when((board) => board.items[0], { deadline })).toEqual({ status: "timed-out" });
      const claim = (): void => undefined;
      expect(await handle.take((board) => board.items[0], claim, { deadline })).toEqual({ status: "timed-out" });
      const seen: unknown[] = [];
      const stop = handle.watch(
        (board) => board.users,
        (users, { instanceId, version }) => seen.push({ users, instanceId, version }),
      );
      await handle.when((board) => board.users["a"]);
      await eventually(() => expect(seen).toHaveLength(1));
      stop();
      expect(seen).toEqual([{ users: { a: { name: "a", age: 1 } }, instanceId: null, version: null }]);
      expect(made).toBe(1);
      expect(await head(connector)).toBe(0);
    },
  },
  {
    name: "stores 1: `initial` is called with the id, and only when the store is missing",
    run: async (database) => {
      const { client } = await openClient(database);
      const calls: string[] = [];
      const counted = boardsNamed("counted", (id) => {
        calls.push(id);
        return emptyBoard;
      });
      await client.getStore({ definition: counted, id: "a" });
      expect(calls.length).toBeGreaterThan(0);
      expect(new Set(calls)).toEqual(new Set(["a"]));
      calls.length = 0;
      await client.getStore({ definition: counted, id: "a" });
      await client.updateStore({ definition: counted, id: "a", updater: (draft) => void (draft.count = 1) });
      expect(calls).toEqual([]);
    },
  },
  {
    name: "stores 1: of racing creations exactly one initial state is kept, and everyone sees that instance",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([openClient(database), openClient(database), openClient(database)]);
      const racers = peers.map((peer, index) => ({
        ...peer,
        definition: boardsNamed("raced", (): Board => ({ ...emptyBoard, count: (index + 1) * 100 })),
      }));
      const seen = await Promise.all(racers.map(({ client, definition }) => client.getStore({ definition, id: "a" })));
      expect(new Set(seen.map(({ instanceId }) => instanceId)).size).toBe(1);
      expect(new Set(seen.map(({ state }) => state.count)).size).toBe(1);
      await Promise.all(
        racers.map(({ client, definition }) =>
          client.updateStore({ definition, id: "b", updater: (draft) => void (draft.count += 1) }),
        ),
      );
      const [first] = racers;
      const { state, version } = await (first as (typeof racers)[0]).client.getStore({
        definition: (first as (typeof racers)[0]).definition, // There are three.
        id: "b",
      });
      expect(version).toBe(3);
      expect([103, 203, 303]).toContain(state.count);
    },
  },
];
