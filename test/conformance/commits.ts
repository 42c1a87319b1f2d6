/** Commits of several operations, and several sessions that commit at once (stores 1, 5, 15, 18; C1, C2). */
import { expect } from "vitest";
import type { CommitOutcome, StoreConnector } from "../../src/protocol/connector.js";
import type { ConformanceCase } from "./conformance-case.js";
import {
  commit,
  create,
  discard,
  instanceId,
  key,
  present,
  record,
  refused,
  remove,
  replace,
  seed,
  snapshot,
  step,
  waiter,
  write,
} from "./requests.js";

/** Adds one to the number in a store, `times` times, starting again after each lost race. */
async function increment(connector: StoreConnector, storeId: string, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const current = await present(connector, storeId);
    const next = String(Number(current.state) + 1);
    const outcome = await connector.commit({ operations: [replace(storeId, current, next)] });
    if (outcome.status === "committed") done += 1;
  }
}

export const commitCases: readonly ConformanceCase[] = [
  {
    name: "stores 18: operations on several stores are one commit, with one sequence and positions in their order",
    run: async (database) => {
      const connector = await database.connect();
      const a = await seed(connector, "a");
      const b = await seed(connector, "b");
      const sequence = await commit(connector, remove("b", b), create("c", "1"), replace("a", a, "2"));
      expect(sequence).toBe(3);
      const reading = await connector.readChanges({ after: 2, limit: 10 });
      expect(reading).toMatchObject({
        status: "read",
        head: 3,
        changes: [
          { sequence: 3, position: 0, storeId: "b", version: 0, deleted: true },
          { sequence: 3, position: 1, storeId: "c", version: 0, deleted: false },
          { sequence: 3, position: 2, storeId: "a", version: 1, deleted: false },
        ],
      });
    },
  },
  {
    name: "stores 5: one operation that cannot be written keeps all others from being written, and each gets its verdict",
    run: async (database) => {
      const connector = await database.connect();
      const a = await seed(connector, "a", '"a"');
      const b = await seed(connector, "b", '"b"');
      const late = await write(connector, "b", '"b1"');
      const newer = await seed(connector, "newer", "{}", { definitionVersion: 7 });
      await commit(connector, create("applied", "{}", { step: record("E", "step", { result: "42" }) }));
      await connector.registerWaiter(waiter("a", a, "W"));
      await connector.forgetExecution("F");
      const before = await connector.readStore(key("a"));

      const verdicts = await refused(
        connector,
        replace("a", a, '"changed"', { step: record("G") }),
        replace("b", b, '"changed"'),
        create("new", "{}"),
        replace("missing", { instanceId: instanceId(), version: 0 }, "{}"),
        discard("nothing"),
        create("applied", "{}", { step: record("E") }),
        create("forgotten", "{}", { step: record("F") }),
        replace("newer", newer, "{}"),
      );
      expect(verdicts).toEqual([
        { status: "ready" },
        { status: "conflict", current: late },
        { status: "ready" },
        { status: "missing" },
        { status: "ready" },
        { status: "already-applied", operation: "update", result: "42" },
        { status: "execution-forgotten" },
        { status: "definition-outdated", storedVersion: 7 },
      ]);
      expect(await connector.readStore(key("a"))).toEqual(before);
      expect(await snapshot(connector, "new")).toBeNull();
      expect(await connector.getAppliedStoreStep({ ...key("a"), ...step("G") })).toEqual({ status: "not-applied" });
      expect(await connector.readWakes({ limit: 10, claim: false })).toEqual([]);
      expect(await connector.readChanges({ after: before.sequence, limit: 10 })).toMatchObject({ changes: [] });
    },
  },
  {
    name: "stores 5: a refused commit tells as of which sequence it was judged, and takes none",
    run: async (database) => {
      const connector = await database.connect();
      await seed(connector, "a");
      await write(connector, "a", "1");
      const outcome = await connector.commit({ operations: [create("a", "2")] });
      expect(outcome).toMatchObject({ status: "rejected", sequence: 2 });
      expect(await commit(connector, create("b", "{}"))).toBe(3);
    },
  },
  {
    name: "stores 5: a discard of nothing beside a real write leaves no change of its own",
    run: async (database) => {
      const connector = await database.connect();
      await commit(connector, discard("nothing"), create("a", "{}"));
      const reading = await connector.readChanges({ after: 0, limit: 10 });
      expect(reading).toMatchObject({ changes: [{ sequence: 1, position: 0, storeId: "a" }], head: 1 });
    },
  },
  {
    name: "stores 1: of racing creations one is kept, and the others are told its snapshot",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([database.connect(), database.connect(), database.connect()]);
      const outcomes = await Promise.all(
        peers.map((peer, index) => peer.commit({ operations: [create("a", `{"by":${index}}`)] })),
      );
      const kept = await present(peers[0], "a");
      expect(outcomes.filter((outcome) => outcome.status === "committed")).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") {
          expect(outcome.verdicts).toEqual([{ status: "conflict", current: kept }]);
        }
      }
      for (const peer of peers) expect(await present(peer, "a")).toEqual(kept);
    },
  },
  {
    name: "C1: compare-and-swap loops of several sessions lose no write, and versions have no gap",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([database.connect(), database.connect(), database.connect()]);
      await seed(peers[0], "counter", "0");
      await Promise.all(peers.map((peer) => increment(peer, "counter", 15)));
      expect(await present(peers[0], "counter")).toMatchObject({ state: "45", version: 45 });
      const reading = await peers[1].readChanges({ after: 0, limit: 1000 });
      if (reading.status !== "read") throw new Error("The feed was trimmed within 46 changes.");
      expect(reading.changes.map((change) => change.version)).toEqual(Array.from({ length: 46 }, (_, index) => index));
    },
  },
  {
    name: "C1: a commit of two stores is seen whole or not at all, and a reading belongs to its sequence",
    needs: ["peers"],
    run: async (database) => {
      const [writer, reader] = await Promise.all([database.connect(), database.connect()]);
      await commit(writer, create("left", "0"), create("right", "0"));
      const written = (async () => {
        for (let number = 1; number <= 20; number++) {
          const left = await present(writer, "left");
          const right = await present(writer, "right");
          await commit(writer, replace("left", left, String(number)), replace("right", right, String(number)));
        }
      })();
      const readings: { readonly sequence: number; readonly state: string }[] = [];
      while (readings.at(-1)?.state !== "20") {
        for (const storeId of ["right", "left"]) {
          const { sequence, snapshot: found } = await reader.readStore(key(storeId));
          readings.push({ sequence, state: found?.state ?? "missing" });
        }
      }
      await written;
      // Commit n wrote n into both, with sequence n + 1: a reading of any other number mixed two moments.
      for (const { sequence, state } of readings) expect(state).toBe(String(sequence - 1));
    },
  },
  {
    name: "C2: sequences of racing commits ascend without gaps, whoever committed",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([database.connect(), database.connect(), database.connect()]);
      const sequences = await Promise.all(
        Array.from({ length: 30 }, (_, index) => commit(peers[index % 3] ?? peers[0], create(`store-${index}`, "{}"))),
      );
      expect([...sequences].sort((one, other) => one - other)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    },
  },
  {
    name: "stores 15: a request that its caller edits after the call is committed as it was, and what is returned is detached",
    run: async (database) => {
      const connector = await database.connect();
      const operation = { ...create("a", '"as sent"') };
      const operations = [operation];
      const pending: Promise<CommitOutcome> = connector.commit({ operations });
      Object.assign(operation, { state: '"edited"', storeId: "b" });
      operations.push(create("c", "{}"));
      expect(await pending).toMatchObject({ status: "committed" });
      expect(await connector.listStores({ storeName: "conformance", limit: 10 })).toEqual(["a"]);
      const first = await present(connector, "a");
      Object.assign(first, { state: '"edited"', version: 99 });
      expect(await present(connector, "a")).toMatchObject({ state: '"as sent"', version: 0 });
      await connector.readChanges({ after: 0, limit: 1 }).then((reading) => {
        if (reading.status === "read") Object.assign(reading.changes[0] ?? {}, { storeId: "edited" });
      });
      expect(await connector.readChanges({ after: 0, limit: 1 })).toMatchObject({ changes: [{ storeId: "a" }] });
    },
  },
];
