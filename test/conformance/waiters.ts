/** Waiters: which commits wake whom, and how long a waiter stays (stores 7, 11, 12, 13, 24, 27; C4). */
import { expect } from "vitest";
import type { StoreConnector } from "../../src/protocol/connector.js";
import type { StorePath } from "../../src/protocol/path.js";
import { type ConformanceCase, restart } from "./conformance-case.js";
import {
  commit,
  create,
  discard,
  instanceId,
  paths,
  present,
  record,
  refused,
  remove,
  replace,
  seed,
  waiter,
  write,
} from "./requests.js";

/** The executions whose wakes are requested now, which is all the database knows: there is nothing to wait for. */
async function woken(connector: StoreConnector): Promise<readonly string[]> {
  const wakes = await connector.readWakes({ limit: 10_000, claim: false });
  return wakes.map((wake) => wake.executionId).sort();
}

/** Acknowledges every wake, so that the next commit's stand alone. */
async function settle(connector: StoreConnector): Promise<void> {
  for (const wake of await connector.readWakes({ limit: 10_000, claim: false })) await connector.acknowledgeWake(wake);
}

const changed = (...list: readonly StorePath[]): { readonly changedPaths: string } => ({
  changedPaths: paths(...list),
});
const reads = (...list: readonly StorePath[]): { readonly readPaths: string } => ({ readPaths: paths(...list) });

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
    name: "stores 12: a commit wakes whose paths it touches, from above and from below, and nobody else",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      const other = await seed(connector, "b");
      await connector.registerWaiter(waiter("a", current, "above", reads(["users"])));
      await connector.registerWaiter(waiter("a", current, "same", reads(["users", "alice"])));
      await connector.registerWaiter(waiter("a", current, "below", reads(["users", "alice", "tags", 0])));
      await connector.registerWaiter(waiter("a", current, "root"));
      await connector.registerWaiter(waiter("a", current, "several", reads(["x"], ["users", "alice"], ["y"])));
      await connector.registerWaiter(waiter("a", current, "sibling", reads(["users", "bob"])));
      await connector.registerWaiter(waiter("a", current, "longer name", reads(["users", "alice2"])));
      await connector.registerWaiter(waiter("a", current, "elsewhere", reads(["orders", "alice"])));
      await connector.registerWaiter(waiter("b", other, "other store", reads(["users", "alice"])));
      await write(connector, "a", "1", changed(["users", "alice"]));
      expect(await woken(connector)).toEqual(["above", "below", "root", "same", "several"]);
    },
  },
  {
    name: "stores 12: a commit whose changed path is the root wakes every waiter of the store",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "deep", reads(["a", 3, "b"])));
      await connector.registerWaiter(waiter("a", current, "root"));
      await write(connector, "a", "1");
      expect(await woken(connector)).toEqual(["deep", "root"]);
    },
  },
  {
    name: "stores 12: a commit wakes only waiters that read a version below its own",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      const later = { ...current, version: 2 };
      expect(await connector.registerWaiter(waiter("a", later, "later"))).toEqual({ status: "registered" });
      await write(connector, "a", "1");
      await write(connector, "a", "2");
      expect(await woken(connector)).toEqual([]);
      await write(connector, "a", "3");
      expect(await woken(connector)).toEqual(["later"]);
    },
  },
  {
    name: "stores 12: a wake and its commit are one: a refused commit wakes nobody",
    run: async (database) => {
      const connector = await database.connect();
      const a = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", a, "W"));
      await refused(connector, replace("a", a, "1"), replace("none", a, "1"));
      await refused(connector, remove("a", { ...a, version: 5 }));
      expect(await woken(connector)).toEqual([]);
      await write(connector, "a", "1");
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
    name: "stores 27: keys with separators, NUL, quotes, digits, nothing or 400 characters never wake one for the other",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      const places: readonly StorePath[] = [
        ["a", "b"],
        ["a.b"],
        ["a/b"],
        ["a,b"],
        ['a","b'],
        ["a\0b"],
        ["a\0"],
        ["a\\"],
        ["'"],
        ['"'],
        ["%"],
        ["_"],
        [""],
        ["", ""],
        ["1"],
        ["10"],
        ["01"],
        ["1e0"],
        ["9".repeat(400)],
        ["9".repeat(399)],
        ["-1"],
        ["list", 1],
        ["list", 10],
        ["list", 2],
        ["__proto__"],
        ["constructor"],
        ["\ud83d"],
        ["\ud83e"],
        ["é"],
        ["e\u0301"],
        ["A"],
      ];
      const contains = (outer: StorePath, inner: StorePath): boolean =>
        outer.every((segment, depth) => inner[depth] === segment);
      for (const [index, place] of places.entries()) {
        await connector.registerWaiter(waiter("a", current, `W${index}`, reads(place)));
      }
      for (const place of places) {
        await write(connector, "a", "{}", changed(place));
        const touched = places.flatMap((other, index) =>
          contains(place, other) || contains(other, place) ? [`W${index}`] : [],
        );
        expect({ place, woken: await woken(connector) }).toEqual({ place, woken: touched.sort() });
        await settle(connector);
      }
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
