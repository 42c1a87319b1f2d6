/** What crosses the boundary arrives as it was, and what must not cross is refused (stores 9, 14, 15, Limits; C6). */
import { expect } from "vitest";
import type { CommitOperation, StoreConnector } from "../../src/protocol/connector.js";
import { AbortedError, ClosedError, InvalidArgumentError, WakefulError } from "../../src/protocol/errors.js";
import { MAX_IDENTIFIER_BYTES, MAX_OPERATIONS, MAX_PAGE, MAX_STATE_BYTES } from "../../src/protocol/limits.js";
import type { ConformanceCase } from "./conformance-case.js";
import {
  commit,
  create,
  discard,
  errorOf,
  instanceId,
  key,
  present,
  record,
  replace,
  seed,
  step,
  waiter,
} from "./requests.js";

const list = (connector: StoreConnector, more: { after?: string; limit?: number } = {}): Promise<readonly string[]> =>
  connector.listStores({ storeName: "conformance", limit: MAX_PAGE, ...more });

/** Every call that takes an identifier, with `id` in its place. */
function callsWith(connector: StoreConnector, id: string): readonly (() => Promise<unknown>)[] {
  const never = { instanceId: instanceId(), version: 0 };
  const one = (operation: CommitOperation) => () => connector.commit({ operations: [operation] });
  return [
    () => connector.readStore({ storeName: id, storeId: "a" }),
    () => connector.readStore({ storeName: "a", storeId: id }),
    one(create(id, "{}")),
    one(create("a", "{}", { storeName: id })),
    one(create("a", "{}", { step: record(id) })),
    one(create("a", "{}", { step: record("E", id) })),
    one(replace(id, never, "{}")),
    one(discard(id)),
    () => connector.getAppliedStoreStep({ ...key(id), ...step("E") }),
    () => connector.getAppliedStoreStep({ ...key("a"), ...step(id) }),
    () => connector.getAppliedStoreStep({ ...key("a"), ...step("E", id) }),
    () => connector.listStores({ storeName: id, limit: 1 }),
    () => connector.registerWaiter(waiter(id, never, "E")),
    () => connector.registerWaiter(waiter("a", never, id)),
    () => connector.registerWaiter(waiter("a", never, "E", { stepKey: id })),
    () => connector.registerWaiter(waiter("a", never, "E", { workflowId: id })),
    () => connector.forgetExecution(id),
    () => connector.acknowledgeWake({ executionId: id, generation: 1 }),
    () => connector.releaseWake({ executionId: id }),
  ];
}

/** Whether nothing at all was written into a database that only this session uses. */
async function expectUntouched(connector: StoreConnector): Promise<void> {
  expect(await connector.readChanges({ after: 0, limit: 10 })).toEqual({ status: "read", changes: [], head: 0 });
  expect(await connector.readWakes({ limit: 10, claim: false })).toEqual([]);
}

export const valueAndLimitCases: readonly ConformanceCase[] = [
  {
    name: "stores 22: a state comes back as the text that was committed",
    run: async (database) => {
      const connector = await database.connect();
      const states = [
        "null",
        '""',
        "[]",
        '{"":{"":[[]]},"__proto__":{"polluted":true},"constructor":1}',
        '"\u{1F600}ée\u0301\u2028\\u0000\\ud800\'%_;--"',
        JSON.stringify("x".repeat(1_000_000)),
        "1.7976931348623157e+308",
      ];
      for (const [index, state] of states.entries()) {
        expect((await seed(connector, `store-${index}`, state)).state).toBe(state);
      }
    },
  },
  {
    name: "stores Limits: ids of every kind are told apart, and come back as they were",
    run: async (database) => {
      const connector = await database.connect();
      const ids = [
        "a",
        "A",
        "a ",
        " a",
        "1",
        "01",
        "1.0",
        "'",
        '"',
        "%",
        "_",
        ";--",
        "\\",
        "\n",
        "é",
        "e\u0301",
        "\u{1F600}",
      ];
      ids.push(
        "x".repeat(MAX_IDENTIFIER_BYTES),
        "é".repeat(MAX_IDENTIFIER_BYTES / 2),
        "__proto__",
        "null",
        "a\u{FEFF}",
      );
      for (const id of ids) await seed(connector, id, JSON.stringify(id));
      for (const id of ids) expect(await present(connector, id)).toMatchObject({ state: JSON.stringify(id) });
      expect([...(await list(connector))].sort()).toEqual([...ids].sort());
    },
  },
  {
    name: "stores Limits: an id that is empty, over 1 KB, or would not come back from UTF-8 as it was, is refused by every call",
    run: async (database) => {
      const connector = await database.connect();
      const tooLong = ["x".repeat(MAX_IDENTIFIER_BYTES + 1), "é".repeat(MAX_IDENTIFIER_BYTES / 2 + 1)];
      // A cast, since a program without types can pass anything.
      const notText = [null, 7, {}] as unknown as string[];
      for (const id of ["", "a\0b", "\ufeffa", "\ud800", "\udc00x", "x\ud83d", ...tooLong, ...notText]) {
        for (const call of callsWith(connector, id)) {
          expect(await errorOf(call())).toBeInstanceOf(InvalidArgumentError);
        }
      }
      await expectUntouched(connector);
    },
  },
  {
    name: "stores Limits: a commit of 1,000 operations is written, and one of none, 1,001 or twice one store is refused",
    run: async (database) => {
      const connector = await database.connect();
      const many = Array.from({ length: MAX_OPERATIONS + 1 }, (_, index) => create(`store-${index}`, "{}"));
      const twice = [create("a", "1"), create("b", "1"), create("a", "2")];
      for (const operations of [[], many, twice]) {
        expect(await errorOf(connector.commit({ operations }))).toBeInstanceOf(InvalidArgumentError);
      }
      await expectUntouched(connector);
      expect(await commit(connector, ...many.slice(1))).toBe(1);
      expect(await list(connector)).toHaveLength(MAX_OPERATIONS);
    },
  },
  {
    name: "stores Limits: a state of 16 MB is written, and one byte more is refused",
    run: async (database) => {
      const connector = await database.connect();
      const state = (bytes: number): string => `"${"x".repeat(bytes - 4)}é"`;
      const tooLarge = connector.commit({ operations: [create("a", state(MAX_STATE_BYTES + 1))] });
      expect(await errorOf(tooLarge)).toBeInstanceOf(InvalidArgumentError);
      await expectUntouched(connector);
      const written = await seed(connector, "a", state(MAX_STATE_BYTES));
      expect(written.state === state(MAX_STATE_BYTES)).toBe(true);
    },
  },
  {
    name: "stores Limits: a page of 0, of more than 10,000 or of half an entry is refused",
    run: async (database) => {
      const connector = await database.connect();
      for (const limit of [0, -1, 1.5, MAX_PAGE + 1, Number.NaN]) {
        expect(await errorOf(list(connector, { limit }))).toBeInstanceOf(InvalidArgumentError);
        expect(await errorOf(connector.readChanges({ after: 0, limit }))).toBeInstanceOf(InvalidArgumentError);
        expect(await errorOf(connector.readWakes({ limit, claim: true }))).toBeInstanceOf(InvalidArgumentError);
      }
    },
  },
  {
    name: "C6: a request that makes no sense is refused with a typed error, and nothing of it is written",
    run: async (database) => {
      const connector = await database.connect();
      const good = create("good", "{}");
      const never = { instanceId: instanceId(), version: 0 };
      const senseless: readonly object[] = [
        { ...good, type: "overwrite" },
        { ...good, version: 2 },
        { ...good, version: -1 },
        { ...good, state: 7 },
        { ...good, changedPaths: "not paths" },
        { ...good, definitionVersion: "1" },
        replace("a", { ...never, version: 1.5 }, "{}"),
        replace("a", { ...never, version: -1 }, "{}"),
        create("a", "{}", { step: { ...record("E"), operation: "delete" as "update" } }), // As a program without types can.
      ];
      for (const operation of senseless) {
        const operations = [create("companion", "{}"), operation as CommitOperation]; // That it is none is the point.
        expect(await errorOf(connector.commit({ operations }))).toBeInstanceOf(WakefulError);
      }
      const notPaths = waiter("a", never, "E", { readPaths: '{"not":"paths"}' });
      expect(await errorOf(connector.registerWaiter(notPaths))).toBeInstanceOf(WakefulError);
      await expectUntouched(connector);
      await commit(connector, good);
    },
  },
  {
    name: "stores Public surface: ids are listed in the order of their UTF-8 bytes, of one definition only",
    run: async (database) => {
      const connector = await database.connect();
      const ordered = [
        "\t",
        "1",
        "10",
        "2",
        "A",
        "B",
        "a",
        "aa",
        "b",
        "z",
        "\u{E9}",
        "\u{4E00}",
        "\u{FF5E}",
        "\u{1F600}",
      ];
      for (const index of ordered.keys()) await seed(connector, ordered.at(-1 - index) ?? "");
      await commit(
        connector,
        create("c", "{}", { storeName: "conformance2" }),
        create("d", "{}", { storeName: "Conformance" }),
      );
      expect(await list(connector)).toEqual(ordered);
      expect(await list(connector, { after: "aa" })).toEqual(ordered.slice(8));
      expect(await list(connector, { after: "ab", limit: 2 })).toEqual(["b", "z"]);
      expect(await list(connector, { after: "\u{FF5E}" })).toEqual(["\u{1F600}"]);
      expect(await list(connector, { after: "\u{1F600}" })).toEqual([]);
      await commit(connector, discard("b"));
      expect(await list(connector, { after: "aa", limit: 1 })).toEqual(["z"]);
    },
  },
  {
    name: "stores 14: a call whose signal aborted before it was sent rejects with the reason, and is never applied",
    run: async (database) => {
      const connector = await database.connect();
      const reason = new Error("changed my mind");
      const signal = AbortSignal.abort(reason);
      const never = { instanceId: instanceId(), version: 0 };
      for (const call of [
        () => connector.commit({ operations: [create("a", "{}")] }, { signal }),
        () => connector.registerWaiter(waiter("a", never, "E"), { signal }),
        () => connector.readStore(key("a"), { signal }),
      ]) {
        const error: unknown = await call().then(
          () => "no error",
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(AbortedError);
        expect((error as AbortedError).cause).toBe(reason);
      }
      await expectUntouched(connector);
    },
  },
  {
    name: "stores 4: a call whose signal aborts after it was answered, or never, is not touched by it",
    run: async (database) => {
      const connector = await database.connect();
      const controller = new AbortController();
      const outcome = await connector.commit({ operations: [create("a", "{}")] }, { signal: controller.signal });
      controller.abort();
      expect(outcome).toEqual({ status: "committed", sequence: 1 });
      await present(connector, "a");
    },
  },
  {
    name: "C6: a session that was closed refuses every call, and closing it again is no failure",
    run: async (database) => {
      const connector = await database.connect();
      await seed(connector, "a");
      await connector.close();
      await connector.close();
      for (const call of [
        () => connector.readStore(key("a")),
        () => connector.commit({ operations: [create("b", "{}")] }),
        () => list(connector),
        () => connector.storage(),
      ]) {
        expect(await errorOf(call())).toBeInstanceOf(ClosedError);
      }
    },
  },
  {
    name: "tabs 15: a connector says where its data is",
    run: async (database) => {
      const report = await (await database.connect()).storage();
      if (report.kind === "memory") expect(report.reason).not.toBe("");
      else expect(["strict", "relaxed"]).toContain(report.durability);
    },
  },
];
