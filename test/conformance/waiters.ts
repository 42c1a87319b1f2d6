/** Waiters: how one is registered, and how long it stays (stores 7, 11, 13; C4). */
import { expect } from "vitest";
import { type ConformanceCase, restart } from "./conformance-case.js";
import {
  changed,
  commit,
  create,
  discard,
  instanceId,
  present,
  reads,
  record,
  remove,
  replace,
  seed,
  settle,
  waiter,
  woken,
  write,
} from "./requests.js";

export const waiterCases: readonly ConformanceCase[] = [
  {
    name: "stores 11: a waiter on the present version is registered, and nobody is woken",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      expect(await connector.registerWaiter(waiter("a", current, "W"))).toEqual({ status: "registered" });
      expect(await woken(connector)).toEqual([]);
    },
  },
  {
    name: "stores 11: a waiter on a missing store, another instance or an older version is woken at once",
    run: async (database) => {
      const connector = await database.connect();
      const old = await seed(connector, "a");
      const current = await write(connector, "a", "1");
      const stranger = { ...current, instanceId: instanceId() };
      expect(await connector.registerWaiter(waiter("none", current, "missing"))).toEqual({ status: "woken" });
      expect(await connector.registerWaiter(waiter("a", stranger, "other instance"))).toEqual({ status: "woken" });
      // Whatever it read: the commit that passed it by is not compared any more.
      const past = waiter("a", old, "past", reads(["nothing", "changed"]));
      expect(await connector.registerWaiter(past)).toEqual({ status: "woken" });
      expect(await woken(connector)).toEqual(["missing", "other instance", "past"]);
    },
  },
  {
    name: "stores 11: registering again replaces the waiter, its paths and its version",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "W", reads(["left"], ["middle"])));
      await connector.registerWaiter(waiter("a", current, "W", reads(["right"])));
      await write(connector, "a", "1", changed(["left"], ["middle"]));
      expect(await woken(connector)).toEqual([]);
      await write(connector, "a", "2", changed(["right"]));
      expect(await woken(connector)).toEqual(["W"]);
    },
  },
  {
    name: "stores 13: a waiter outlives its wake: the next commit that touches it wakes it again",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "W"));
      for (let round = 1; round <= 3; round++) {
        await write(connector, "a", String(round));
        expect(await woken(connector)).toEqual(["W"]);
        await settle(connector);
      }
    },
  },
  {
    name: "stores 13: recording a step's result removes its waiter in the same commit, which does not wake it",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E"));
      await connector.registerWaiter(waiter("a", current, "E2"));
      await commit(connector, replace("a", current, "1", { step: record("E") }));
      expect(await woken(connector)).toEqual(["E2"]);
      await settle(connector);
      await write(connector, "a", "2");
      expect(await woken(connector)).toEqual(["E2"]);
    },
  },
  {
    name: "stores 13: a step whose result is recorded leaves no waiter behind, on another store or registered late",
    run: async (database) => {
      const connector = await database.connect();
      const a = await seed(connector, "a");
      const b = await seed(connector, "b");
      await connector.registerWaiter(waiter("b", b, "E"));
      await commit(connector, replace("a", a, "1", { step: record("E") }));
      await connector.registerWaiter(waiter("a", await present(connector, "a"), "E"));
      await settle(connector);
      await write(connector, "a", "2");
      await write(connector, "b", "1");
      expect(await woken(connector)).toEqual([]);
    },
  },
  {
    name: "stores 13: recording one step's result leaves the waiters of the execution's other steps",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E", { stepKey: "other" }));
      await commit(connector, replace("a", current, "1", { step: record("E") }));
      expect(await woken(connector)).toEqual(["E"]);
    },
  },
  {
    name: "stores 7: deleting or discarding a store wakes its waiters, whatever they read, and removes them",
    run: async (database) => {
      const connector = await database.connect();
      for (const [storeId, leave] of [
        ["deleted", async () => remove("deleted", await present(connector, "deleted"))],
        ["discarded", async () => discard("discarded")],
      ] as const) {
        const current = await seed(connector, storeId);
        await connector.registerWaiter(waiter(storeId, current, `W ${storeId}`, reads(["deep", "down"])));
        await commit(connector, await leave());
        expect(await woken(connector)).toEqual([`W ${storeId}`]);
        await settle(connector);
        await seed(connector, storeId);
        await write(connector, storeId, "1");
        expect(await woken(connector)).toEqual([]);
      }
    },
  },
  {
    name: "stores 7: the step that deletes a store is not woken by its own deletion",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E"));
      await connector.registerWaiter(waiter("a", current, "other"));
      await commit(connector, remove("a", current, { step: record("E", "step", { operation: "delete-from" }) }));
      expect(await woken(connector)).toEqual(["other"]);
    },
  },
  {
    name: "stores 13: forgetting an execution removes its waiters, and it can register none any more",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E", { stepKey: "one" }));
      await connector.registerWaiter(waiter("a", current, "E", { stepKey: "two" }));
      await connector.registerWaiter(waiter("a", current, "kept"));
      await connector.forgetExecution("E");
      expect(await connector.registerWaiter(waiter("a", current, "E"))).toEqual({ status: "execution-forgotten" });
      expect(await connector.registerWaiter(waiter("none", current, "E"))).toEqual({ status: "execution-forgotten" });
      await write(connector, "a", "1");
      expect(await woken(connector)).toEqual(["kept"]);
    },
  },
  {
    name: "C4: a waiter registered while others commit is woken by the commit it did not see",
    needs: ["peers"],
    run: async (database) => {
      const [sleeper, writer] = await Promise.all([database.connect(), database.connect()]);
      for (let round = 0; round < 25; round++) {
        const read = await seed(sleeper, `store-${round}`);
        await Promise.all([
          sleeper.registerWaiter(waiter(`store-${round}`, read, `W${round}`, reads(["ready"]))),
          commit(writer, replace(`store-${round}`, read, '{"ready":true}', changed(["ready"]))),
        ]);
        expect(await woken(sleeper)).toEqual([`W${round}`]);
        await settle(sleeper);
      }
    },
  },
  {
    name: "stores 13: waiters are still there at the next owner",
    needs: ["restart", "durable"],
    options: { restarts: 1 },
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "W", reads(["left"])));
      await restart(database);
      await commit(connector, create("b", "{}"), replace("a", current, "1", changed(["right"])));
      expect(await woken(connector)).toEqual([]);
      await write(connector, "a", "2", changed(["left"]));
      expect(await woken(connector)).toEqual(["W"]);
    },
  },
];
