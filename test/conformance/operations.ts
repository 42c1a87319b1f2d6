/** Single operations: what a commit does to one store, and when it is refused (stores 1, 2, 5, 6, 7, 30, 31). */
import { expect } from "vitest";
import type { StoredSnapshot } from "../../src/protocol/connector.js";
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
  write,
} from "./requests.js";

const elsewhere = (read: StoredSnapshot): StoredSnapshot => ({ ...read, instanceId: instanceId() });

export const operationCases: readonly ConformanceCase[] = [
  {
    name: "stores 5: a creation writes the store as it was asked for, and takes the first sequence",
    run: async (database) => {
      const connector = await database.connect();
      expect(await connector.readStore(key("a"))).toEqual({ sequence: 0, snapshot: null });
      const operation = create("a", '{"n":1}');
      expect(await connector.commit({ operations: [operation] })).toEqual({ status: "committed", sequence: 1 });
      expect(await connector.readStore(key("a"))).toEqual({
        sequence: 1,
        snapshot: { instanceId: operation.instanceId, version: 0, definitionVersion: 1, state: '{"n":1}' },
      });
    },
  },
  {
    name: "stores 2: a store can be created at version 1, with one change that never was version 0",
    run: async (database) => {
      const connector = await database.connect();
      await commit(connector, create("a", '{"n":1}', { version: 1 }));
      expect(await present(connector, "a")).toMatchObject({ version: 1, state: '{"n":1}' });
      const reading = await connector.readChanges({ after: 0, limit: 10 });
      expect(reading).toMatchObject({ status: "read", changes: [{ sequence: 1, version: 1 }], head: 1 });
    },
  },
  {
    name: "stores 5: replacing raises the version by one and keeps the instance",
    run: async (database) => {
      const connector = await database.connect();
      const first = await seed(connector, "a", '{"n":0}');
      for (let version = 1; version <= 3; version++) {
        const written = await write(connector, "a", `{"n":${version}}`);
        expect(written).toEqual({ ...first, version, state: `{"n":${version}}` });
      }
    },
  },
  {
    name: "stores 5: replacing or deleting a missing store is refused as missing, and creates nothing",
    run: async (database) => {
      const connector = await database.connect();
      const never = { instanceId: instanceId(), version: 0 };
      expect(await refused(connector, replace("a", never, "{}"))).toEqual([{ status: "missing" }]);
      expect(await refused(connector, remove("a", never))).toEqual([{ status: "missing" }]);
      expect(await connector.readStore(key("a"))).toEqual({ sequence: 0, snapshot: null });
    },
  },
  {
    name: "stores 5: creating a store that exists is a conflict, which answers the present snapshot",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a", '{"kept":true}');
      expect(await refused(connector, create("a", "{}"))).toEqual([{ status: "conflict", current }]);
      expect(await refused(connector, create("a", "{}", { version: 1 }))).toEqual([{ status: "conflict", current }]);
      expect(await present(connector, "a")).toEqual(current);
    },
  },
  {
    name: "stores 5: replacing a version that is not the present one, older or newer, is a conflict",
    run: async (database) => {
      const connector = await database.connect();
      const old = await seed(connector, "a");
      const current = await write(connector, "a", '{"n":1}');
      for (const version of [old.version, current.version + 1, current.version + 100]) {
        const verdicts = await refused(connector, replace("a", { ...current, version }, '{"n":2}'));
        expect(verdicts).toEqual([{ status: "conflict", current }]);
      }
      expect(await present(connector, "a")).toEqual(current);
    },
  },
  {
    name: "stores 5: replacing another instance is a conflict, even at the same version",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      expect(await refused(connector, replace("a", elsewhere(current), "[]"))).toEqual([
        { status: "conflict", current },
      ]);
      expect(await present(connector, "a")).toEqual(current);
    },
  },
  {
    name: "stores 7: deleting what is still as expected removes it",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      expect(await commit(connector, remove("a", current))).toBe(2);
      expect(await connector.readStore(key("a"))).toEqual({ sequence: 2, snapshot: null });
    },
  },
  {
    name: "stores 7: deleting what has changed, or another instance, is a conflict and removes nothing",
    run: async (database) => {
      const connector = await database.connect();
      const old = await seed(connector, "a");
      const current = await write(connector, "a", '{"n":1}');
      expect(await refused(connector, remove("a", old))).toEqual([{ status: "conflict", current }]);
      expect(await refused(connector, remove("a", elsewhere(current)))).toEqual([{ status: "conflict", current }]);
      expect(await present(connector, "a")).toEqual(current);
    },
  },
  {
    name: "stores 5: discarding removes a store whatever its version",
    run: async (database) => {
      const connector = await database.connect();
      await seed(connector, "a");
      await write(connector, "a", '{"n":1}');
      expect(await commit(connector, discard("a"))).toBe(3);
      expect(await snapshot(connector, "a")).toBeNull();
    },
  },
  {
    name: "stores 5: discarding a missing store succeeds and, alone, makes no commit",
    run: async (database) => {
      const connector = await database.connect();
      await seed(connector, "other");
      expect(await connector.commit({ operations: [discard("a")] })).toEqual({ status: "committed", sequence: 1 });
      expect(await connector.readChanges({ after: 1, limit: 10 })).toEqual({ status: "read", changes: [], head: 1 });
    },
  },
  {
    name: "stores 5: a recreated store is a new instance, for which nothing read before counts",
    run: async (database) => {
      const connector = await database.connect();
      const first = await seed(connector, "a", '"first"');
      await commit(connector, remove("a", first));
      const second = await seed(connector, "a", '"second"');
      expect(second.instanceId).not.toBe(first.instanceId);
      expect(second.version).toBe(0);
      expect(await refused(connector, replace("a", first, '"late"'))).toEqual([
        { status: "conflict", current: second },
      ]);
      expect(await refused(connector, remove("a", first))).toEqual([{ status: "conflict", current: second }]);
    },
  },
  {
    name: "stores 5: a forgotten execution is refused before its receipt, a missing store or a conflict is looked at",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await commit(connector, replace("a", current, "1", { step: record("E") }));
      await connector.forgetExecution("E");
      const forgotten = [{ status: "execution-forgotten" }];
      expect(await refused(connector, replace("a", current, "2", { step: record("E") }))).toEqual(forgotten);
      expect(await refused(connector, replace("none", current, "2", { step: record("E") }))).toEqual(forgotten);
      expect(await refused(connector, create("a", "2", { step: record("E", "new") }))).toEqual(forgotten);
      expect(await present(connector, "a")).toMatchObject({ state: "1" });
    },
  },
  {
    name: "stores 5: a receipt answers before a missing store, a conflict or a newer definition is looked at",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      const applied = record("E", "step", { operation: "take", result: '{"is":"this"}' });
      const answer = [{ status: "already-applied", operation: "take", result: '{"is":"this"}' }];
      await commit(connector, replace("a", current, "1", { step: applied }));
      expect(await refused(connector, replace("a", current, "2", { step: record("E") }))).toEqual(answer);
      await write(connector, "a", "3", { definitionVersion: 9 });
      expect(await refused(connector, replace("a", current, "2", { step: record("E") }))).toEqual(answer);
      await commit(connector, discard("a", { definitionVersion: 9 }));
      expect(await refused(connector, replace("a", current, "2", { step: record("E") }))).toEqual(answer);
      expect(await refused(connector, create("a", "2", { step: record("E") }))).toEqual(answer);
      expect(await snapshot(connector, "a")).toBeNull();
    },
  },
  {
    name: "stores 31: a row of a newer definition is not replaced, deleted, discarded or recreated by older code",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a", '"newer"', { definitionVersion: 3 });
      const outdated = [{ status: "definition-outdated", storedVersion: 3 }];
      const older = { definitionVersion: 2 };
      expect(await refused(connector, replace("a", current, '"old"', older))).toEqual(outdated);
      expect(await refused(connector, remove("a", current, older))).toEqual(outdated);
      expect(await refused(connector, discard("a", older))).toEqual(outdated);
      expect(await refused(connector, create("a", '"old"', older))).toEqual(outdated);
      expect(await present(connector, "a")).toEqual(current);
    },
  },
  {
    name: "stores 30: a row keeps the definition version that wrote it, until a newer one writes it again",
    run: async (database) => {
      const connector = await database.connect();
      expect((await seed(connector, "a", "0", { definitionVersion: 2 })).definitionVersion).toBe(2);
      expect((await write(connector, "a", "1", { definitionVersion: 2 })).definitionVersion).toBe(2);
      expect((await write(connector, "a", "2", { definitionVersion: 5 })).definitionVersion).toBe(5);
    },
  },
  {
    name: "stores 6: a conflict writes no receipt, so that the step can still be applied",
    run: async (database) => {
      const connector = await database.connect();
      const old = await seed(connector, "a");
      const current = await write(connector, "a", "1");
      await refused(connector, replace("a", old, "2", { step: record("E") }));
      await refused(connector, remove("a", old, { step: record("E") }));
      await refused(connector, create("a", "2", { step: record("E") }));
      expect(await connector.getAppliedStoreStep({ ...key("a"), ...step("E") })).toEqual({ status: "not-applied" });
      await commit(connector, replace("a", current, "3", { step: record("E") }));
      expect(await present(connector, "a")).toMatchObject({ state: "3" });
    },
  },
];
