/** The sequence, the change feed and the events of commits (stores 5, 18, tabs 5, 11; C2, C5). */
import { expect } from "vitest";
import type { Change } from "../../src/protocol/change.js";
import type { StoreConnector } from "../../src/protocol/connector.js";
import { type ConformanceCase, restart } from "./conformance-case.js";
import { type EventLog, isCommit, listen } from "./event-log.js";
import {
  commit,
  create,
  discard,
  key,
  paths,
  present,
  refused,
  remove,
  replace,
  ROOT,
  seed,
  waiter,
  write,
} from "./requests.js";

/** The changes after a sequence, which must still be kept. */
async function feed(connector: StoreConnector, after = 0, limit = 10_000): Promise<readonly Change[]> {
  const reading = await connector.readChanges({ after, limit });
  if (reading.status !== "read") throw new Error(`The feed was trimmed: ${JSON.stringify(reading)}`);
  return reading.changes;
}

/** The changes that a session heard of, in the order heard. */
function heard(log: EventLog): readonly Change[] {
  return log.events.flatMap((event) => (event.type === "commit" ? event.changes : []));
}

export const changeCases: readonly ConformanceCase[] = [
  {
    name: "C2: a change tells the store, instance, version, paths and session of its commit",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      expect(other.session).not.toBe(one.session);
      const created = await seed(one, "a");
      await commit(other, replace("a", created, "1", { changedPaths: paths(["b", 0], ["a"]) }));
      const { instanceId } = created;
      expect(await feed(one)).toEqual([
        {
          ...key("a"),
          sequence: 1,
          position: 0,
          instanceId,
          version: 0,
          changedPaths: ROOT,
          deleted: false,
          origin: one.session,
        },
        {
          ...key("a"),
          sequence: 2,
          position: 0,
          instanceId,
          version: 1,
          changedPaths: paths(["a"], ["b", 0]),
          deleted: false,
          origin: other.session,
        },
      ]);
    },
  },
  {
    name: "C2: a deletion is a change of the instance and version that it deleted, with the root as its path",
    run: async (database) => {
      const connector = await database.connect();
      const { instanceId } = await seed(connector, "a");
      await commit(connector, remove("a", await write(connector, "a", "1")));
      const again = await seed(connector, "a");
      await commit(connector, discard("a"));
      const deletion = { ...key("a"), position: 0, changedPaths: ROOT, deleted: true, origin: connector.session };
      expect((await feed(connector)).filter((change) => change.deleted)).toEqual([
        { ...deletion, sequence: 3, instanceId, version: 1 },
        { ...deletion, sequence: 5, instanceId: again.instanceId, version: 0 },
      ]);
    },
  },
  {
    name: "C2: the feed is read from any sequence, and is empty from its head on",
    run: async (database) => {
      const connector = await database.connect();
      expect(await connector.readChanges({ after: 0, limit: 5 })).toEqual({ status: "read", changes: [], head: 0 });
      for (const storeId of ["a", "b", "c"]) await seed(connector, storeId);
      expect((await feed(connector, 1)).map((change) => change.storeId)).toEqual(["b", "c"]);
      expect(await connector.readChanges({ after: 3, limit: 5 })).toEqual({ status: "read", changes: [], head: 3 });
      expect(await connector.readChanges({ after: 99, limit: 5 })).toEqual({ status: "read", changes: [], head: 3 });
    },
  },
  {
    name: "C2: pages of the feed put together are the feed, and no commit is cut in two",
    run: async (database) => {
      const connector = await database.connect();
      await seed(connector, "alone");
      for (const group of ["g", "h"]) {
        await commit(connector, ...Array.from({ length: 5 }, (_, index) => create(`${group}${index}`, "{}")));
      }
      await seed(connector, "last");
      const collected: Change[] = [];
      for (let after = 0; after < 4; ) {
        const page = await feed(connector, after, 3);
        const end = page.at(-1)?.sequence ?? 0;
        expect(end).toBeGreaterThan(after);
        expect(await feed(connector, end, 1).then((next) => next[0]?.position ?? 0)).toBe(0);
        collected.push(...page);
        after = end;
      }
      expect(collected).toEqual(await feed(connector));
      expect(collected).toHaveLength(12);
    },
  },
  {
    name: "C2: a feed with a bound drops whole commits from its beginning, and says where it begins now",
    needs: ["changesLimit"],
    options: { changesLimit: 10 },
    run: async (database) => {
      const connector = await database.connect();
      for (let index = 0; index < 60; index++)
        await commit(connector, create(`x${index}`, "{}"), create(`y${index}`, "{}"));
      const reading = await connector.readChanges({ after: 0, limit: 10 });
      if (reading.status !== "trimmed") throw new Error(`Nothing was trimmed: ${JSON.stringify(reading)}`);
      expect(reading.head).toBe(60);
      expect(reading.oldest).toBeGreaterThan(1);
      const kept = await feed(connector, reading.oldest - 1);
      expect(kept[0]).toMatchObject({ sequence: reading.oldest, position: 0 });
      expect(kept.length % 2).toBe(0);
      expect(kept.length).toBeGreaterThanOrEqual(10);
      expect(await connector.readChanges({ after: reading.oldest - 2, limit: 1 })).toMatchObject({ status: "trimmed" });
      expect(await feed(connector, 60)).toEqual([]);
    },
  },
  {
    name: "C5: every session hears every commit, its own included, once it stands in the database",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      const found: Promise<boolean>[] = [];
      const logs = [one, other].map((session) =>
        listen(session, (event) => {
          if (event.type !== "commit") return;
          for (const change of event.changes) {
            const standing = session.readStore(change).then((reading) => reading.sequence >= change.sequence);
            found.push(standing);
          }
        }),
      );
      for (let number = 1; number <= 10; number++) {
        await commit(number % 2 === 0 ? one : other, create(`store-${number}`, "{}"));
      }
      for (const log of logs) {
        await log.until(isCommit(10));
        expect(log.sequences()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      }
      expect(await Promise.all(found)).not.toContain(false);
    },
  },
  {
    name: "C5: a commit's event holds the changes that the feed holds",
    run: async (database) => {
      const connector = await database.connect();
      const log = listen(connector);
      const a = await seed(connector, "a");
      await commit(connector, create("b", "{}"), replace("a", a, "1", { changedPaths: paths(["x"]) }));
      const last = await commit(connector, discard("b"));
      await log.until(isCommit(last));
      expect(heard(log)).toEqual(await feed(connector));
    },
  },
  {
    name: "C5: a refused commit and a discard of nothing are heard by nobody",
    run: async (database) => {
      const connector = await database.connect();
      const log = listen(connector);
      await seed(connector, "a");
      await refused(connector, create("a", "{}"), create("b", "{}"));
      await commit(connector, discard("nothing"));
      const fence = await commit(connector, create("fence", "{}"));
      await log.until(isCommit(fence));
      expect(heard(log).map((change) => change.storeId)).toEqual(["a", "fence"]);
    },
  },
  {
    name: "C5: a commit is heard before the wakes that it causes",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "E"));
      const log = listen(connector);
      const sequence = await commit(connector, replace("a", current, "1"));
      const wake = await log.until((event) => event.type === "wake");
      const commitHeard = await log.until(isCommit(sequence));
      expect(log.events.indexOf(commitHeard)).toBeLessThan(log.events.indexOf(wake));
    },
  },
  {
    name: "C5: a listener that was taken away hears nothing more, and leaves the others",
    run: async (database) => {
      const connector = await database.connect();
      const [gone, kept] = [listen(connector), listen(connector)];
      await gone.until(isCommit(await commit(connector, create("a", "{}"))));
      gone.stop();
      gone.stop();
      await kept.until(isCommit(await commit(connector, create("b", "{}"))));
      expect(heard(gone).map((change) => change.storeId)).toEqual(["a"]);
    },
  },
  {
    name: "C5: a session that closed hears nothing more, and the others go on",
    needs: ["peers"],
    run: async (database) => {
      const [leaving, staying] = await Promise.all([database.connect(), database.connect()]);
      const [gone, kept] = [listen(leaving), listen(staying)];
      await gone.until(isCommit(await commit(leaving, create("a", "{}"))));
      await leaving.close();
      await kept.until(isCommit(await commit(staying, create("b", "{}"))));
      expect(heard(gone).map((change) => change.storeId)).toEqual(["a"]);
    },
  },
  {
    name: "tabs 5: the next owner is announced with a higher epoch, which its events carry, and the sequence goes on",
    needs: ["restart", "durable"],
    options: { restarts: 1 },
    run: async (database) => {
      const connector = await database.connect();
      const log = listen(connector);
      const first = await log.until(isCommit(await commit(connector, create("a", "{}"))));
      await restart(database);
      const owner = await log.until((event) => event.type === "owner" && event.epoch > epochOf(first));
      expect(owner).toMatchObject({ sequence: 1 });
      const sequence = await commit(connector, create("b", "{}"));
      expect(sequence).toBe(2);
      const second = await log.until(isCommit(sequence));
      expect(epochOf(second)).toBe(epochOf(owner));
      expect(await present(connector, "a")).toMatchObject({ version: 0 });
      expect((await feed(connector)).map((change) => change.sequence)).toEqual([1, 2]);
    },
  },
  {
    name: "tabs 5: the same database has the same id at its next owner",
    needs: ["restart", "durable"],
    options: { restarts: 2 },
    run: async (database) => {
      const connector = await database.connect();
      const log = listen(connector);
      let epoch = epochOf(await log.until(isCommit(await commit(connector, create("a", "{}")))));
      const ids: string[] = [];
      for (let owner = 0; owner < 2; owner++) {
        const before = epoch;
        await restart(database);
        const event = await log.until((next) => next.type === "owner" && next.epoch > before);
        epoch = epochOf(event);
        if (event.type === "owner") ids.push(event.databaseId);
      }
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(1);
    },
  },
];

function epochOf(event: Awaited<ReturnType<EventLog["until"]>>): number {
  if (event.type === "error") throw new Error("An error has no epoch.");
  return event.epoch;
}
