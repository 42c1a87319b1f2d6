/** Watching and peeking (stores 20). */
import { expect } from "vitest";
import { Boards, emptyBoard, openClient, eventually } from "./client.js";
import type { ConformanceCase } from "./conformance-case.js";

const address = { definition: Boards, id: "a" };

const setCount =
  (count: number) =>
  (draft: { count: number }): void =>
    void (draft.count = count);

export const observingCases: readonly ConformanceCase[] = [
  {
    name: "stores 20: a watch has the present value at once, then those that differ, and ends with the newest",
    needs: ["peers"],
    run: async (database) => {
      const [watcher, writer] = await Promise.all([openClient(database), openClient(database)]);
      await writer.client.updateStore({ ...address, updater: setCount(1) });
      const seen: { value: unknown; version: number | null }[] = [];
      const stop = watcher.client.store(Boards, "a").watch(
        (board) => [board.count],
        (value, { version }) => seen.push({ value, version }),
      );
      await eventually(() => expect(seen).toEqual([{ value: [1], version: 1 }]));
      await writer.client.updateStore({
        ...address,
        updater: (draft) => void (draft.users["x"] = { name: "x", age: 1 }),
      });
      for (let count = 2; count <= 10; count++)
        await writer.client.updateStore({ ...address, updater: setCount(count) });
      await eventually(() => expect(seen.at(-1)).toEqual({ value: [10], version: 11 }));
      const values = seen.map(({ value }) => JSON.stringify(value));
      expect(new Set(values).size).toBe(values.length);
      stop();
      await writer.client.updateStore({ ...address, updater: setCount(11) });
      await watcher.client.store(Boards, "a").when((board) => board.count === 11);
      expect(seen.at(-1)).toEqual({ value: [10], version: 11 });
    },
  },
  {
    name: "stores 20: a watch never goes back to an older state, across deletion and recreation as well",
    needs: ["peers"],
    run: async (database) => {
      const [watcher, writer] = await Promise.all([openClient(database), openClient(database)]);
      const seen: number[] = [];
      const stop = watcher.client.store(Boards, "a").watch(
        (board) => board.count,
        (count) => seen.push(count),
      );
      for (let round = 1; round <= 6; round++) {
        await writer.client.updateStore({ ...address, updater: setCount(round * 10) });
        await writer.client.updateStore({ ...address, updater: setCount(round * 10 + 1) });
        if (round < 6) await writer.client.deleteStore(address);
      }
      await eventually(() => expect(seen.at(-1)).toBe(61));
      stop();
      // Deletions show as 0 in between; apart from them, what is seen only grows.
      const written = seen.filter((count) => count !== 0);
      expect(written).toEqual([...written].sort((one, other) => one - other));
    },
  },
  {
    name: "stores 20: a missing store is watched in its initial state, and again once it was deleted",
    run: async (database) => {
      const { client } = await openClient(database);
      const seen: unknown[] = [];
      const stop = client.store(Boards, "a").watch(
        (board) => board.count,
        (count, { instanceId, version }) => seen.push([count, instanceId === null, version]),
      );
      await eventually(() => expect(seen).toEqual([[0, true, null]]));
      await client.updateStore({ ...address, updater: setCount(3) });
      expect(seen.at(-1)).toEqual([3, false, 1]);
      await client.deleteStore(address);
      expect(seen.at(-1)).toEqual([0, true, null]);
      stop();
    },
  },
  {
    name: "stores 20: an error in selector or callback goes to onError, and the watch lives on",
    run: async (database) => {
      const { client } = await openClient(database);
      await client.updateStore({ ...address, updater: setCount(1) });
      const [seen, errors]: [number[], unknown[]] = [[], []];
      const stop = client.store(Boards, "a").watch(
        (board) => {
          if (board.count === 2) throw new RangeError("selector");
          return board.count;
        },
        (count) => {
          if (count === 3) throw new RangeError("callback");
          seen.push(count);
        },
        { onError: (error) => errors.push(error) },
      );
      await eventually(() => expect(seen).toEqual([1]));
      for (const count of [2, 3, 4]) await client.updateStore({ ...address, updater: setCount(count) });
      await eventually(() => expect(seen).toEqual([1, 4]));
      expect(errors).toEqual([new RangeError("selector"), new RangeError("callback")]);
      stop();
    },
  },
  {
    name: "stores 20: a client's own commit is visible to its peek and watch before the call resolves",
    run: async (database) => {
      const { client } = await openClient(database);
      const handle = client.store(Boards, "a");
      expect(handle.peek()).toBeUndefined();
      const seen: number[] = [];
      const stop = handle.watch(
        (board) => board.count,
        (count) => seen.push(count),
      );
      await eventually(() => expect(seen).toEqual([0]));
      for (let count = 1; count <= 5; count++) {
        const { version } = await handle.update(setCount(count));
        expect(seen.at(-1)).toBe(count);
        expect(handle.peek()).toMatchObject({ state: { count }, version });
      }
      stop();
      await client.deleteStore(address);
      expect(handle.peek()).toMatchObject({ state: emptyBoard, instanceId: null, version: null });
    },
  },
];
