import { describe, expect, test } from "vitest";
import { InvalidArgumentError } from "../../src/protocol/errors.js";
import { MAX_IDENTIFIER_BYTES, MAX_OPERATIONS, MAX_PAGE, MAX_STATE_BYTES } from "../../src/protocol/limits.js";
import {
  checkAcknowledgement,
  checkAppliedStepRequest,
  checkChangesRequest,
  checkCommitRequest,
  checkExecutionId,
  checkListRequest,
  checkReadWakesRequest,
  checkRelease,
  checkStoreKey,
  checkWaiterRegistration,
} from "../../worker/check-request.js";
import { create, discard, record, remove, replace, ROOT, waiter } from "../conformance/requests.js";

const version = { instanceId: "i", version: 0 };
const created = create("a", "{}", { step: record("E") });
const replaced = replace("a", version, "{}", { step: record("E") });
const one = (operation: unknown): unknown => ({ operations: [operation] });

const texts = [undefined, null, 1, true, {}, [], ""];
const ids = [
  ...texts,
  "x".repeat(MAX_IDENTIFIER_BYTES + 1),
  "é".repeat(MAX_IDENTIFIER_BYTES),
  "a\0b",
  "\ud800",
  "\udc00a",
];
const counts = [undefined, null, "1", -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, {}, true];
const pages = [...counts, 0, MAX_PAGE + 1];
const canonicals = [...texts, "\0", "\ud800", "a\udc00", "\ufeff{}"];
const pathLists = [
  ...canonicals,
  "{}",
  "[",
  "[1]",
  '[["a"],"b"]',
  "[[1.5]]",
  "[[-1]]",
  "[[null]]",
  "[[[]]]",
  "[[true]]",
];
const uuids = [
  ...ids,
  "i",
  "00000000-0000-4000-8000-000000000000",
  "00000000-0000-7000-0000-000000000000",
  "0000000000007000800000000000000",
  "00000000-0000-7000-8000-00000000000A",
  "00000000-0000-7000-8000-000000000000\n",
];
const records = [undefined, null, 1, "text", [], true];

/** For every field of every request: a request that is right but for that field, and what the field must not be. */
const cases: Record<
  string,
  { check: (value: unknown) => unknown; base: object; fields: Record<string, readonly unknown[]> }
> = {
  "store key": {
    check: checkStoreKey,
    base: { storeName: "s", storeId: "a" },
    fields: { storeName: ids, storeId: ids },
  },
  "applied step": {
    check: checkAppliedStepRequest,
    base: { storeName: "s", storeId: "a", executionId: "E", stepKey: "k" },
    fields: { storeName: ids, storeId: ids, executionId: ids, stepKey: ids },
  },
  list: {
    check: checkListRequest,
    base: { storeName: "s", after: "a", limit: 1 },
    fields: { storeName: ids, after: ids.slice(1), limit: pages },
  },
  changes: { check: checkChangesRequest, base: { after: 0, limit: 1 }, fields: { after: counts, limit: pages } },
  wakes: {
    check: checkReadWakesRequest,
    base: { limit: 1, claim: true },
    fields: { limit: pages, claim: [undefined, null, 1, "true"] },
  },
  acknowledgement: {
    check: checkAcknowledgement,
    base: { executionId: "E", generation: 1 },
    fields: { executionId: ids, generation: counts },
  },
  release: { check: checkRelease, base: { executionId: "E" }, fields: { executionId: ids } },
  waiter: {
    check: checkWaiterRegistration,
    base: waiter("a", version, "E"),
    fields: {
      workflowId: ids,
      executionId: ids,
      stepKey: ids,
      storeName: ids,
      storeId: ids,
      instanceId: ids,
      sinceVersion: counts,
      readPaths: pathLists,
    },
  },
  create: {
    check: (operation) => checkCommitRequest(one(operation)),
    base: created,
    fields: {
      type: [undefined, "update", 1, null, "Create"],
      storeName: ids,
      storeId: ids,
      definitionVersion: counts,
      instanceId: uuids,
      version: [...counts, 2],
      state: canonicals,
      changedPaths: pathLists,
      step: records.slice(1),
    },
  },
  replace: {
    check: (operation) => checkCommitRequest(one(operation)),
    base: replaced,
    fields: {
      storeName: ids,
      expected: records,
      state: canonicals,
      changedPaths: pathLists,
      definitionVersion: counts,
    },
  },
  "expected version": {
    check: (expected) => checkCommitRequest(one({ ...remove("a", version), expected })),
    base: version,
    fields: { instanceId: ids, version: [...counts, Number.MAX_SAFE_INTEGER] },
  },
  discard: {
    check: (operation) => checkCommitRequest(one(operation)),
    base: discard("a"),
    fields: { storeName: ids, storeId: ids, definitionVersion: counts },
  },
  step: {
    check: (step) => checkCommitRequest(one({ ...replaced, step })),
    base: record("E"),
    fields: {
      executionId: ids,
      stepKey: ids,
      operation: [undefined, null, "discard", "Update", 1],
      result: canonicals,
    },
  },
};

describe.each(Object.entries(cases))("stores Limits: of a request of kind %s", (_, { check, base, fields }) => {
  test("a right one is taken, with fields that nobody knows as well", () => {
    expect(() => check(base)).not.toThrow();
    expect(() => check({ ...base, unknown: "field" })).not.toThrow();
  });

  test.each(Object.entries(fields))("a wrong %s is refused with an error that says what to do", (field, wrong) => {
    for (const value of wrong) {
      expect(() => check({ ...base, [field]: value })).toThrow(InvalidArgumentError);
    }
  });

  test("what is no object is refused", () => {
    // Without the first: an operation may have no step.
    for (const value of records.slice(1)) expect(() => check(value)).toThrow(InvalidArgumentError);
  });
});

test("stores Limits: an execution id is checked where it is the whole request", () => {
  expect(checkExecutionId("E")).toBe("E");
  for (const value of ids) expect(() => checkExecutionId(value)).toThrow(InvalidArgumentError);
});

test("stores Limits: 1 to 1,000 operations on different stores", () => {
  const operations = Array.from({ length: MAX_OPERATIONS + 1 }, (_, index) => discard(`${index}`));
  expect(() => checkCommitRequest({ operations })).toThrow(`${MAX_OPERATIONS + 1} operations`);
  expect(() => checkCommitRequest({ operations: operations.slice(1) })).not.toThrow();
  for (const wrong of [[], undefined, null, {}, "operations", { length: 1, 0: discard("a") }]) {
    expect(() => checkCommitRequest({ operations: wrong })).toThrow(InvalidArgumentError);
  }
  expect(() => checkCommitRequest({ operations: [discard("a"), discard("b"), discard("a")] })).toThrow("twice");
  // Joined without care these two would be one.
  const near = [
    { ...discard("b c"), storeName: "a" },
    { ...discard("c"), storeName: "a b" },
  ];
  expect(() => checkCommitRequest({ operations: near })).not.toThrow();
});

test("stores Limits: a state of up to 16 MB of UTF-8, counted in bytes", () => {
  const state = (length: number, character: string): unknown => one({ ...replaced, state: character.repeat(length) });
  expect(() => checkCommitRequest(state(MAX_STATE_BYTES, "1"))).not.toThrow();
  expect(() => checkCommitRequest(state(MAX_STATE_BYTES + 1, "1"))).toThrow(`${MAX_STATE_BYTES + 1} bytes`);
  expect(() => checkCommitRequest(state(MAX_STATE_BYTES / 2 + 1, "é"))).toThrow(InvalidArgumentError);
  expect(() => checkCommitRequest(state(MAX_STATE_BYTES / 4, "😀"))).not.toThrow();
});

test("the paths of a root change are taken", () => {
  expect(() => checkCommitRequest(one({ ...replaced, changedPaths: ROOT }))).not.toThrow();
});
