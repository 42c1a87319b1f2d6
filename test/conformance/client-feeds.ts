/** What a client follows beside its stores: changes, wakes, events, and its own end (Public surface, stores 12, tabs 25). */
import { expect } from "vitest";
import { AbortedError, ChangesTrimmedError, ClosedError, InvalidArgumentError } from "../../src/protocol/errors.js";
import { Boards, emptyBoard, eventually, openClient, type TestClient } from "./client.js";
import { type ConformanceCase, restart } from "./conformance-case.js";
import { errorOf } from "./requests.js";

const address = { definition: Boards, id: "a" };

async function setCount({ client }: TestClient, count: number, id = "a"): Promise<void> {
  await client.updateStore({ definition: Boards, id, updater: (draft) => void (draft.count = count) });
}

/** The next `count` values. */
async function next<T>(feed: AsyncIterator<T>, count: number): Promise<T[]> {
  const values: T[] = [];
  while (values.length < count) {
    const result = await feed.next();
    if (result.done === true) throw new Error(`The feed ended after ${values.length} values.`);
    values.push(result.value);
  }
  return values;
}

/** Has an execution woken, by a waiter on what is not there. */
async function wake({ client }: TestClient, executionId: string): Promise<void> {
  const nowhere = { storeName: "nowhere", storeId: "a", instanceId: "none", sinceVersion: 0, readPaths: [[]] };
  await client.registerWaiter({ workflowId: "W", executionId, stepKey: "step", ...nowhere });
}

export const feedCases: readonly ConformanceCase[] = [
  {
    name: "stores Public surface: changes come from a sequence on, or from now on, each once and in order",
    needs: ["peers"],
    run: async (database) => {
      const [reader, writer] = await Promise.all([openClient(database), openClient(database)]);
      await setCount(writer, 1);
      await setCount(writer, 2, "b");
      const all = reader.client.changes({ after: 0 });
      expect((await next(all, 2)).map(({ sequence, storeId }) => [sequence, storeId])).toEqual([
        [1, "a"],
        [2, "b"],
      ]);
      const later = reader.client.changes();
      const third = next(later, 1);
      await writer.client.store(Boards, "a").get();
      // Its position is that of the call: a commit made once the owner has answered a later call comes after it.
      await reader.client.store(Boards, "a").get();
      await writer.client.transactStores({
        stores: { a: address, c: { definition: Boards, id: "c" } },
        updater: ({ a, c }) => {
          a.count = 5;
          c.count = 6;
        },
      });
      expect(await third).toMatchObject([{ sequence: 3, position: 0, storeId: "a", changedPaths: [["count"]] }]);
      expect(await next(later, 1)).toMatchObject([{ sequence: 3, position: 1, storeId: "c", changedPaths: [[]] }]);
      expect(await next(all, 2)).toMatchObject([{ sequence: 3 }, { sequence: 3, origin: writer.client.session }]);
      await writer.client.delete(Boards, "a");
      expect(await next(all, 1)).toMatchObject([{ sequence: 4, storeId: "a", deleted: true }]);
      await all.return?.();
      await later.return?.();
    },
  },
  {
    name: "stores Public surface: changes that are no longer kept are a typed error, which says where to go on",
    needs: ["changesLimit"],
    options: { changesLimit: 10 },
    run: async (database) => {
      const client = await openClient(database);
      for (let count = 1; count <= 60; count++) await setCount(client, count);
      const error = await errorOf(next(client.client.changes({ after: 0 }), 1));
      if (!(error instanceof ChangesTrimmedError)) throw error;
      expect(error.oldest).toBeGreaterThan(1);
      const kept = client.client.changes({ after: error.oldest - 1 });
      const sequences = Array.from({ length: 61 - error.oldest }, (_, index) => error.oldest + index);
      expect((await next(kept, sequences.length)).map(({ sequence }) => sequence)).toEqual(sequences);
      await kept.return?.();
    },
  },
  {
    name: "stores Public surface: the feed goes on at the next owner without a gap",
    needs: ["peers", "restart", "durable"],
    options: { restarts: 1 },
    run: async (database) => {
      const [reader, writer] = await Promise.all([openClient(database), openClient(database)]);
      const feed = reader.client.changes({ after: 0 });
      await setCount(writer, 1);
      await next(feed, 1);
      const rest = next(feed, 2);
      await restart(database);
      await setCount(writer, 2);
      await setCount(writer, 3);
      expect((await rest).map(({ sequence }) => sequence)).toEqual([2, 3]);
      await feed.return?.();
    },
  },
  {
    name: "stores Public surface: a feed ends by its signal, and refuses what is no sequence",
    run: async (database) => {
      const { client } = await openClient(database);
      for (const after of [-1, 1.5, Number.NaN]) {
        const read = async (): Promise<unknown> => next(client.changes({ after }), 1);
        expect(await errorOf(read())).toBeInstanceOf(InvalidArgumentError);
      }
      const controller = new AbortController();
      const waiting = errorOf(next(client.changes({ after: 0, signal: controller.signal }), 1));
      controller.abort();
      expect(await waiting).toBeInstanceOf(AbortedError);
    },
  },
  {
    name: "stores Public surface: a handle's transaction, list and delete are those of the client",
    run: async (database) => {
      const { client } = await openClient(database);
      const [a, b] = [client.store(Boards, "a"), client.store(Boards, "b")];
      const written = await client.transact({ a, b }, (drafts) => {
        drafts.a.count = 1;
        drafts.b.count = 2;
      });
      expect(written).toMatchObject({ a: { version: 1, state: { count: 1 } }, b: { version: 1, state: { count: 2 } } });
      expect(await client.list(Boards)).toEqual(["a", "b"]);
      await client.delete(Boards, "a");
      await client.delete(Boards, "a");
      expect(await client.list(Boards)).toEqual(["b"]);
    },
  },
  {
    name: "stores 12: wakes are delivered, each to one client, until they are acknowledged",
    needs: ["peers"],
    run: async (database) => {
      const clients = await Promise.all([openClient(database), openClient(database)]);
      const delivered: string[] = [];
      const feeds = clients.map(({ client }) => client.wakes());
      const readers = Promise.allSettled(
        feeds.map(async (feed) => {
          for await (const delivery of feed) {
            delivered.push(delivery.executionId);
            await delivery.acknowledge();
          }
        }),
      );
      const ids = Array.from({ length: 12 }, (_, index) => `E${index}`);
      for (const id of ids) await wake(clients[0], id);
      await eventually(() => expect([...delivered].sort()).toEqual([...ids].sort()));
      await eventually(() => expect(delivered).toHaveLength(ids.length));
      expect(await clients[0].connector.readWakes({ limit: 100, claim: false })).toEqual([]);
      for (const { client } of clients) await client.close();
      for (const ended of await readers) {
        expect(ended).toMatchObject({ status: "rejected", reason: { code: "closed" } });
      }
    },
  },
  {
    name: "stores 12: a delivery that fails blocks no other, and comes again once it is released",
    run: async (database) => {
      const test = await openClient(database);
      await wake(test, "failing");
      const feed = test.client.wakes();
      const [failing] = await next(feed, 1);
      await wake(test, "fine");
      const [fine] = await next(feed, 1);
      expect([failing?.executionId, fine?.executionId]).toEqual(["failing", "fine"]);
      await fine?.acknowledge();
      await failing?.release();
      const [again] = await next(feed, 1);
      expect(again?.executionId).toBe("failing");
      await again?.acknowledge();
      await feed.return?.();
    },
  },
  {
    name: "stores 12: two readers of one client share the wakes out, and neither waits for the other's delivery",
    run: async (database) => {
      const test = await openClient(database);
      await wake(test, "E");
      await wake(test, "F");
      const feeds = [test.client.wakes(), test.client.wakes()];
      const deliveries = await Promise.all(feeds.map((feed) => next(feed, 1)));
      expect(new Set(deliveries.map(([delivery]) => delivery?.executionId))).toEqual(new Set(["E", "F"]));
      for (const feed of feeds) await feed.return?.();
    },
  },
  {
    name: "stores 13: a wake that was requested again during its delivery comes again after its acknowledgement",
    run: async (database) => {
      const test = await openClient(database);
      await wake(test, "E");
      const feed = test.client.wakes();
      const [first] = await next(feed, 1);
      await wake(test, "E");
      await first?.acknowledge();
      const [second] = await next(feed, 1);
      expect(second?.generation).toBeGreaterThan(first?.generation ?? Number.POSITIVE_INFINITY);
      await second?.acknowledge();
      expect(await test.connector.readWakes({ limit: 10, claim: false })).toEqual([]);
      await feed.return?.();
    },
  },
  {
    name: "tabs 25: a client tells of commits, lost races, wakes and large states, until it is asked to stop",
    needs: ["peers"],
    run: async (database) => {
      const rival = await openClient(database);
      let races = 2;
      const test = await openClient(database, (connector) => ({
        commit: async (request, options) => {
          if (races-- > 0) await setCount(rival, races);
          return connector.commit(request, options);
        },
      }));
      const heard: Record<string, unknown[]> = { commit: [], conflict: [], wake: [], slow: [] };
      const stops = (["commit", "conflict", "wake", "slow"] as const).map((type) =>
        test.client.on(type, (event: unknown) => void heard[type]?.push(event)),
      );
      await setCount(test, 9);
      await wake(test, "E");
      await test.client.updateStore({
        ...address,
        updater: (draft) => void (draft.users["x".repeat(1_100_000)] = { name: "", age: 1 }),
      });
      await eventually(() => {
        const sequences = heard["commit"]?.flatMap((event) =>
          (event as { changes: readonly { sequence: number }[] }).changes.map((change) => change.sequence),
        );
        expect(sequences).toEqual([1, 2, 3, 4]);
      });
      expect(heard["conflict"]).toEqual([
        { storeName: "board", storeId: "a", lostRaces: 1 },
        { storeName: "board", storeId: "a", lostRaces: 2 },
      ]);
      await eventually(() => expect(heard["wake"]).toMatchObject([{ executionIds: ["E"] }]));
      expect(heard["slow"]).toMatchObject([{ storeName: "board", storeId: "a" }]);
      for (const stop of stops) stop();
      const fence = new Promise((resolve) => test.client.on("commit", resolve));
      await setCount(test, 1, "fence");
      await fence;
      expect(heard["commit"]).toHaveLength(4);
    },
  },
  {
    name: "stores 20: closing ends what waits with a typed error, lets calls finish, and refuses new ones",
    run: async (database) => {
      const test = await openClient(database);
      const handle = test.client.store(Boards, "a");
      const update = handle.update((draft) => void (draft.count = 1));
      const waits = [
        handle.when((board) => board.items[0]),
        handle.take(
          (board) => board.items[0],
          () => undefined,
        ),
        next(test.client.changes({ after: 0 }), 2),
        next(test.client.wakes(), 1),
      ].map((wait) => errorOf(wait));
      const seen: number[] = [];
      const errors: unknown[] = [];
      handle.watch(
        (board) => board.count,
        (count) => seen.push(count),
        { onError: (error) => errors.push(error) },
      );
      expect(await update).toEqual({ state: { ...emptyBoard, count: 1 }, previousVersion: 0, version: 1 });
      await Promise.all([test.client.close(), test.client.close()]);
      for (const error of await Promise.all(waits)) expect(error).toBeInstanceOf(ClosedError);
      for (const call of [
        () => handle.get(),
        () => handle.update(() => undefined),
        () => handle.when(() => true),
        () => test.client.list(Boards),
        () => test.client.forgetExecution("E"),
        () => test.client.storage(),
        () => next(test.client.changes(), 1),
        () => next(test.client.wakes(), 1),
      ]) {
        expect(await errorOf(call())).toBeInstanceOf(ClosedError);
      }
      expect(errors).toEqual([]);
    },
  },
];
