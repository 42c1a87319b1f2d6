/** The ledger of applied steps, and executions that were forgotten (stores 5, 9; C3). */
import { expect } from "vitest";
import type { AppliedStep, StoreConnector } from "../../src/protocol/connector.js";
import { type ConformanceCase, restart } from "./conformance-case.js";
import {
  commit,
  create,
  discard,
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

const NOT_APPLIED: AppliedStep = { status: "not-applied" };
const FORGOTTEN: AppliedStep = { status: "execution-forgotten" };

function applied(
  connector: StoreConnector,
  storeId: string,
  executionId: string,
  stepKey = "step",
): Promise<AppliedStep> {
  return connector.getAppliedStoreStep({ ...key(storeId), ...step(executionId, stepKey) });
}

export const receiptCases: readonly ConformanceCase[] = [
  {
    name: "stores 9: a receipt is written with its commit, and answers with the recorded result word for word",
    run: async (database) => {
      const connector = await database.connect();
      const result = '{"__proto__":1,"a":"\\u0000 \\ud83d \u{1F600}\\n","z":[0.1,null]}';
      expect(await applied(connector, "a", "E")).toEqual(NOT_APPLIED);
      await commit(connector, create("a", "{}", { step: record("E", "step", { operation: "take", result }) }));
      expect(await applied(connector, "a", "E")).toEqual({ status: "already-applied", operation: "take", result });
    },
  },
  {
    name: "C3: where a receipt is found nothing is written, whatever the repeated call holds",
    run: async (database) => {
      const connector = await database.connect();
      const first = await seed(connector, "a", "0");
      await commit(connector, replace("a", first, "1", { step: record("E", "step", { result: "1" }) }));
      const current = await present(connector, "a");
      const repeated = record("E", "step", { operation: "delete-from", result: "2" });
      const answer = [{ status: "already-applied", operation: "update", result: "1" }];
      expect(await refused(connector, replace("a", current, "2", { step: repeated }))).toEqual(answer);
      expect(await refused(connector, remove("a", current, { step: repeated }))).toEqual(answer);
      expect(await refused(connector, discard("a", { step: repeated }))).toEqual(answer);
      expect(await connector.readStore(key("a"))).toEqual({ sequence: 2, snapshot: current });
      expect(await applied(connector, "a", "E")).toMatchObject({ operation: "update", result: "1" });
    },
  },
  {
    name: "stores 9: a receipt is of one store, one execution and one step, and of no other",
    run: async (database) => {
      const connector = await database.connect();
      await commit(connector, create("a", "{}", { step: record("E", "one") }));
      await seed(connector, "b");
      expect(await applied(connector, "b", "E", "one")).toEqual(NOT_APPLIED);
      expect(await applied(connector, "a", "F", "one")).toEqual(NOT_APPLIED);
      expect(await applied(connector, "a", "E", "two")).toEqual(NOT_APPLIED);
      const elsewhere = { ...key("a", "other definition"), ...step("E", "one") };
      expect(await connector.getAppliedStoreStep(elsewhere)).toEqual(NOT_APPLIED);
      await write(connector, "a", "1", { step: record("E", "two") });
      await write(connector, "a", "2", { step: record("F", "one") });
      await write(connector, "b", "3", { step: record("E", "one") });
      expect(await present(connector, "a")).toMatchObject({ version: 2 });
    },
  },
  {
    name: "stores 9: ids that would be equal once joined by a separator have receipts of their own",
    run: async (database) => {
      const connector = await database.connect();
      const pairs = [
        ["a", "b:c"],
        ["a:b", "c"],
        ["a\n", "b"],
        ["a", "\nb"],
        ['a","b', "c"],
        ["a", 'b","c'],
      ] as const;
      for (const [executionId, stepKey] of pairs) {
        expect(await applied(connector, "s", executionId, stepKey)).toEqual(NOT_APPLIED);
        const result = JSON.stringify([executionId, stepKey]);
        const taken = { step: record(executionId, stepKey, { result }) };
        const current = await snapshot(connector, "s");
        await commit(connector, current === null ? create("s", "0", taken) : replace("s", current, "0", taken));
      }
      for (const [executionId, stepKey] of pairs) {
        const result = JSON.stringify([executionId, stepKey]);
        expect(await applied(connector, "s", executionId, stepKey)).toMatchObject({ result });
      }
    },
  },
  {
    name: "stores 9: receipts survive deletion and recreation of their store",
    run: async (database) => {
      const connector = await database.connect();
      const first = await seed(connector, "a");
      await commit(connector, replace("a", first, "1", { step: record("E", "write") }));
      const current = await present(connector, "a");
      const deletion = record("E", "delete", { operation: "delete-from", result: '{"deleted":true}' });
      await commit(connector, remove("a", current, { step: deletion }));
      await seed(connector, "a", '"recreated"');
      expect(await applied(connector, "a", "E", "write")).toMatchObject({ operation: "update", result: '"E"' });
      expect(await applied(connector, "a", "E", "delete")).toMatchObject({ operation: "delete-from" });
      const again = await present(connector, "a");
      expect(await refused(connector, remove("a", again, { step: deletion }))).toMatchObject([
        { status: "already-applied", result: '{"deleted":true}' },
      ]);
      expect(await present(connector, "a")).toEqual(again);
    },
  },
  {
    name: "stores 9: of duplicates that race one is written, and all others are answered by its receipt",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([database.connect(), database.connect(), database.connect()]);
      const current = await seed(peers[0], "a", "0");
      const outcomes = await Promise.all(
        Array.from({ length: 9 }, (_, index) => {
          const taken = record("E", "step", { result: String(index) });
          const peer = peers[index % 3] ?? peers[0];
          return peer.commit({ operations: [replace("a", current, String(index), { step: taken })] });
        }),
      );
      expect(outcomes.filter((outcome) => outcome.status === "committed")).toHaveLength(1);
      const written = await present(peers[0], "a");
      expect(written.version).toBe(1);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") {
          expect(outcome.verdicts).toEqual([{ status: "already-applied", operation: "update", result: written.state }]);
        }
      }
    },
  },
  {
    name: "stores 18: a commit of several stores writes a receipt on each, or on none",
    run: async (database) => {
      const connector = await database.connect();
      const a = await seed(connector, "a");
      const taken = { step: record("E", "both", { operation: "transact", result: '"both"' }) };
      await refused(connector, replace("a", a, "1", taken), replace("b", a, "1", taken));
      expect(await applied(connector, "a", "E", "both")).toEqual(NOT_APPLIED);
      await commit(connector, replace("a", a, "1", taken), create("b", "1", taken));
      for (const storeId of ["a", "b"]) {
        const answer = { status: "already-applied", operation: "transact", result: '"both"' };
        expect(await applied(connector, storeId, "E", "both")).toEqual(answer);
      }
    },
  },
  {
    name: "stores 9: a forgotten execution is refused with an old step, a new one, and on another store",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await commit(connector, replace("a", current, "1", { step: record("E", "old") }));
      await commit(connector, create("b", "1", { step: record("E", "old") }));
      await connector.forgetExecution("E");
      for (const storeId of ["a", "b", "never"]) {
        for (const stepKey of ["old", "new"]) {
          expect(await applied(connector, storeId, "E", stepKey)).toEqual(FORGOTTEN);
          const late = create(storeId, "late", { step: record("E", stepKey) });
          expect(await refused(connector, late)).toEqual([FORGOTTEN]);
        }
      }
      expect(await present(connector, "a")).toMatchObject({ state: "1", version: 1 });
      expect(await snapshot(connector, "never")).toBeNull();
    },
  },
  {
    name: "stores 9: forgetting twice, or what was never heard of, is no failure and touches no other execution",
    run: async (database) => {
      const connector = await database.connect();
      await commit(connector, create("a", "{}", { step: record("E") }));
      await commit(connector, create("b", "{}", { step: record("EE") }));
      await connector.forgetExecution("F");
      await connector.forgetExecution("F");
      expect(await applied(connector, "a", "F")).toEqual(FORGOTTEN);
      expect(await applied(connector, "a", "E")).toMatchObject({ status: "already-applied" });
      await connector.forgetExecution("E");
      await connector.forgetExecution("E");
      expect(await applied(connector, "a", "E")).toEqual(FORGOTTEN);
      expect(await applied(connector, "b", "EE")).toMatchObject({ status: "already-applied" });
      expect(await applied(connector, "b", "e")).toEqual(NOT_APPLIED);
    },
  },
  {
    name: "stores 9: forgetting and committing at once ends with the step applied before it, or refused after it",
    needs: ["peers"],
    run: async (database) => {
      const [one, other] = await Promise.all([database.connect(), database.connect()]);
      for (let round = 0; round < 20; round++) {
        const executionId = `E${round}`;
        const operations = [create(`store-${round}`, "{}", { step: record(executionId) })];
        const [outcome] = await Promise.all([one.commit({ operations }), other.forgetExecution(executionId)]);
        const found = await snapshot(one, `store-${round}`);
        expect(found === null).toBe(outcome.status === "rejected");
        if (outcome.status === "rejected") expect(outcome.verdicts).toEqual([FORGOTTEN]);
        expect(await applied(one, `store-${round}`, executionId)).toEqual(FORGOTTEN);
      }
    },
  },
  {
    name: "stores 9: receipts and forgotten executions are still there at the next owner",
    needs: ["restart", "durable"],
    options: { restarts: 1 },
    run: async (database) => {
      const connector = await database.connect();
      await commit(connector, create("a", "{}", { step: record("E", "step", { result: "[1]" }) }));
      await connector.forgetExecution("F");
      await restart(database);
      expect(await applied(connector, "a", "E")).toMatchObject({ status: "already-applied", result: "[1]" });
      expect(await applied(connector, "a", "F")).toEqual(FORGOTTEN);
    },
  },
];
