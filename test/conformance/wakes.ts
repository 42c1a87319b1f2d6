/** Wakes: durable requests, their generations, claims and events (stores 12, 13; tabs 11). */
import { expect } from "vitest";
import type { StoreConnector, Wake } from "../../src/protocol/connector.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { type ConformanceCase, restart } from "./conformance-case.js";
import { isCommit, isWake, listen } from "./event-log.js";
import { commit, create, replace, seed, waiter, write } from "./requests.js";

/** The one wake of this execution. */
async function wakeOf(connector: StoreConnector, executionId: string): Promise<Wake> {
  const wakes = await connector.readWakes({ limit: 10_000, claim: false });
  const found = wakes.filter((candidate) => candidate.executionId === executionId);
  expect(found).toHaveLength(1);
  return found[0]!; // The line above failed unless there is one.
}

/** Asks for a wake at once, by a waiter on a store that is not there. */
async function requestWake(connector: StoreConnector, executionId: string): Promise<void> {
  const never = { instanceId: "00000000-0000-7000-8000-000000000000", version: 0 };
  expect(await connector.registerWaiter(waiter("never", never, executionId))).toEqual({ status: "woken" });
}

/**
 * What a session hears, once `cause` has happened, that makes it look for wakes again: the announcement of this one, or
 * another owner. A fence comes first: what was announced before it is heard before it.
 */
async function reasonToLook(
  connector: StoreConnector,
  executionId: string,
  cause: () => Promise<void>,
): Promise<StoreEvent> {
  const log = listen(connector);
  const fence = await log.until(isCommit(await commit(connector, create("fence", "{}"))));
  await cause();
  return log.until(
    (event) =>
      (isWake(executionId)(event) || event.type === "owner") && log.events.indexOf(event) > log.events.indexOf(fence),
  );
}

async function claimed(connector: StoreConnector, limit = 100): Promise<readonly string[]> {
  const wakes = await connector.readWakes({ limit, claim: true });
  return wakes.map(({ executionId }) => executionId).sort();
}

export const wakeCases: readonly ConformanceCase[] = [
  {
    name: "stores 12: a wake names its workflow and execution, and when it was requested",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E", { workflowId: "mail" }));
      await write(connector, "a", "1");
      const { generation, requestedAt, ...names } = await wakeOf(connector, "E");
      expect(names).toEqual({ workflowId: "mail", executionId: "E" });
      expect(Number.isSafeInteger(generation)).toBe(true);
      expect(Number.isFinite(requestedAt)).toBe(true);
    },
  },
  {
    name: "stores 12: a commit that touches several waiters of one execution, on several stores, wakes it once",
    run: async (database) => {
      const connector = await database.connect();
      const log = listen(connector);
      const a = await seed(connector, "a");
      const b = await seed(connector, "b");
      await connector.registerWaiter(waiter("a", a, "E", { stepKey: "one" }));
      await connector.registerWaiter(waiter("a", a, "E", { stepKey: "two" }));
      await connector.registerWaiter(waiter("b", b, "E", { stepKey: "three" }));
      await commit(connector, replace("a", a, "1"), replace("b", b, "1"));
      await wakeOf(connector, "E");
      const heard = await log.until(isWake("E"));
      expect(heard).toMatchObject({ executionIds: ["E"] });
    },
  },
  {
    name: "stores 13: a wake requested again before it is acknowledged stays one, of a higher generation",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E"));
      await write(connector, "a", "1");
      const first = await wakeOf(connector, "E");
      await write(connector, "a", "2");
      const second = await wakeOf(connector, "E");
      expect(second.generation).toBeGreaterThan(first.generation);
    },
  },
  {
    name: "stores 13: acknowledging removes the wake of that generation, and never a newer one",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E"));
      await write(connector, "a", "1");
      const first = await wakeOf(connector, "E");
      await write(connector, "a", "2");
      await connector.acknowledgeWake(first);
      const second = await wakeOf(connector, "E");
      await connector.acknowledgeWake(second);
      expect(await connector.readWakes({ limit: 10, claim: false })).toEqual([]);
      await connector.acknowledgeWake(second);
      await connector.acknowledgeWake({ executionId: "never", generation: 1 });
    },
  },
  {
    name: "stores 13: a generation is not used again after it was acknowledged, so a late acknowledgement removes nothing",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E"));
      await write(connector, "a", "1");
      const first = await wakeOf(connector, "E");
      await connector.acknowledgeWake(first);
      await write(connector, "a", "2");
      await connector.acknowledgeWake(first);
      expect((await wakeOf(connector, "E")).generation).not.toBe(first.generation);
    },
  },
  {
    name: "stores 12: acknowledging one execution's wake leaves those of the others",
    run: async (database) => {
      const connector = await database.connect();
      await requestWake(connector, "E");
      await requestWake(connector, "F");
      await connector.acknowledgeWake(await wakeOf(connector, "E"));
      await wakeOf(connector, "F");
      expect(await connector.readWakes({ limit: 10, claim: false })).toHaveLength(1);
    },
  },
  {
    name: "stores 12: reading without a claim shows every wake to every session",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      await requestWake(one, "E");
      expect(await claimed(one)).toEqual(["E"]);
      await wakeOf(other, "E");
      await wakeOf(one, "E");
    },
  },
  {
    name: "stores 12: a wake that one session has claimed is claimed by no other, and is shown again to its own",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      await requestWake(one, "E");
      expect(await claimed(one)).toEqual(["E"]);
      expect(await claimed(other)).toEqual([]);
      expect(await claimed(one)).toEqual(["E"]);
    },
  },
  {
    name: "stores 12: sessions that claim at once share the wakes out, each to one of them",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([database.connect(), database.connect(), database.connect()]);
      const all = Array.from({ length: 20 }, (_, index) => `E${index}`).sort();
      for (const executionId of all) await requestWake(peers[0], executionId);
      const shares = await Promise.all(peers.map((peer) => claimed(peer, 10)));
      expect(shares.flat().sort()).toEqual(all);
    },
  },
  {
    name: "stores 12: a delivery that hangs blocks no other: what lies behind a claimed wake can be claimed",
    needs: ["peers"],
    run: async (database) => {
      const [hanging, other] = await Promise.all([database.connect(), database.connect()]);
      await requestWake(hanging, "E");
      const [first] = await claimed(hanging, 1);
      await requestWake(hanging, "F");
      await requestWake(hanging, "G");
      expect(first).toBe("E");
      expect(await claimed(other, 1)).toHaveLength(1);
      expect(await claimed(other)).toEqual(["F", "G"]);
    },
  },
  {
    name: "stores 12: a released wake is announced, and can be claimed by any session",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      await requestWake(one, "E");
      await requestWake(one, "F");
      await claimed(one);
      const release = await reasonToLook(other, "E", () => one.releaseWake({ executionId: "E" }));
      expect(release).toMatchObject({ executionIds: ["E"] });
      await one.releaseWake({ executionId: "never" });
      expect(await claimed(other)).toEqual(["E"]);
      expect(await claimed(one)).toEqual(["F"]);
    },
  },
  {
    name: "stores 12: closing a session gives its claims back, which is announced, and the wakes stay",
    needs: ["peers"],
    run: async (database) => {
      const [leaving, other] = await Promise.all([database.connect(), database.connect()]);
      await requestWake(leaving, "E");
      expect(await claimed(leaving)).toEqual(["E"]);
      await reasonToLook(other, "E", () => leaving.close());
      expect(await claimed(other)).toEqual(["E"]);
    },
  },
  {
    name: "stores 12: wakes are still there at the next owner, claimed by nobody",
    needs: ["peers", "restart", "durable"],
    options: { restarts: 1 },
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      await requestWake(one, "E");
      const before = await wakeOf(one, "E");
      await claimed(one);
      await restart(database);
      expect(await wakeOf(one, "E")).toEqual(before);
      expect(await claimed(other)).toEqual(["E"]);
    },
  },
  {
    name: "tabs 11: a wake is announced to every session, by the id of its execution, and then stands in the database",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      const logs = [listen(one), listen(other)];
      const current = await seed(one, "a");
      await one.registerWaiter(waiter("a", current, "E"));
      await write(other, "a", "1");
      for (const log of logs) {
        const heard = await log.until(isWake("E"));
        expect(Object.keys(heard).sort()).toEqual(["epoch", "executionIds", "type"]);
      }
      await wakeOf(other, "E");
    },
  },
  {
    name: "tabs 11: a wake requested by the registration itself is announced as well",
    run: async (database) => {
      const connector = await database.connect();
      const log = listen(connector);
      await requestWake(connector, "E");
      await log.until(isWake("E"));
    },
  },
];
