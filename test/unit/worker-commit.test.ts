import { beforeEach, describe, expect, test } from "vitest";
import type { CommitOperation, CommitOutcome, StoredSnapshot, StoreReading } from "../../src/protocol/connector.js";
import { InvalidArgumentError } from "../../src/protocol/errors.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { createStoreHost, type StoreHost } from "../../worker/connector.js";
import { loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { create, discard, instanceId, key, paths, record, remove, replace, waiter } from "../conformance/requests.js";
import { dump } from "./database-dump.js";
import { type FailingDatabase, failingDatabase } from "./failing-database.js";

let database: FailingDatabase;
let host: StoreHost;
let events: StoreEvent[];
let publishedInTransaction: boolean;

beforeEach(async () => {
  database = failingDatabase(openMemoryDatabase(await loadSqlite()));
  events = [];
  publishedInTransaction = false;
  host = createStoreHost(database, {
    clock: () => 1000,
    publish: (event) => {
      events.push(event);
      publishedInTransaction ||= database.busy;
    },
  });
});

function commit(...operations: CommitOperation[]): CommitOutcome {
  return host.call("me", "commit", { operations }) as CommitOutcome; // What "commit" answers.
}

function read(storeId: string): StoredSnapshot {
  const { snapshot } = host.call("me", "readStore", key(storeId)) as StoreReading; // What "readStore" answers.
  if (snapshot === null) throw new Error(`The store ${storeId} is missing.`);
  return snapshot;
}

function verdicts(...operations: CommitOperation[]): unknown {
  const outcome = commit(...operations);
  return outcome.status === "rejected" ? outcome.verdicts.map((verdict) => verdict.status) : outcome.status;
}

describe("stores 5: an operation is judged in this order:", () => {
  /** What is wrong with an operation, in the order in which it has to be found. */
  const faults = ["execution-forgotten", "already-applied", "missing", "definition-outdated", "conflict"] as const;

  // A missing store has no definition and no version: those three exclude one another.
  const combinations = [
    ["execution-forgotten", "already-applied", "missing"],
    ["execution-forgotten", "already-applied", "definition-outdated", "conflict"],
    ["execution-forgotten", "missing"],
    ["execution-forgotten", "conflict"],
    ["execution-forgotten", "definition-outdated"],
    ["already-applied", "missing"],
    ["already-applied", "definition-outdated", "conflict"],
    ["already-applied", "conflict"],
    ["definition-outdated", "conflict"],
    ["execution-forgotten"],
    ["already-applied"],
    ["missing"],
    ["definition-outdated"],
    ["conflict"],
  ] satisfies (typeof faults)[number][][];

  for (const type of ["create", "replace", "delete", "discard"] as const) {
    const impossible = { create: ["missing"], discard: ["missing", "conflict"], replace: [], delete: [] }[type];
    for (const present of combinations) {
      if (present.some((fault) => (impossible as readonly string[]).includes(fault))) continue;
      test(`${type} with ${present.join(", ")}`, () => {
        const has = (fault: (typeof faults)[number]): boolean => (present as readonly string[]).includes(fault);
        const step = record("E");
        commit(create("x", "{}", { step, definitionVersion: has("definition-outdated") ? 2 : 1 }));
        const snapshot = read("x");
        const creates = type === "create" && !has("conflict") && !has("definition-outdated");
        if (has("missing") || creates) commit(discard("x", { definitionVersion: 2 }));
        if (has("execution-forgotten")) host.call("me", "forgetExecution", has("already-applied") ? "E" : "F");
        const expected = has("conflict") ? { ...snapshot, version: snapshot.version + 1 } : snapshot;
        const more = {
          ...(has("already-applied") ? { step } : {}),
          ...(has("execution-forgotten") && !has("already-applied") ? { step: record("F", "new step") } : {}),
        };
        const operations: Record<typeof type, CommitOperation> = {
          create: create("x", "[]", more),
          replace: replace("x", expected, "[]", more),
          delete: remove("x", expected, more),
          discard: discard("x", more),
        };
        const before = dump(database);
        expect(verdicts(operations[type])).toEqual([present[0]]);
        expect(dump(database)).toEqual(before);
      });
    }
  }
});

test("stores 5: each operation of a commit gets its own verdict, and a ready one is not written beside others", () => {
  commit(create("a", "{}"), create("b", "{}"));
  const before = dump(database);
  expect(verdicts(create("a", "1"), create("new", "{}"), remove("none", read("b")), discard("none 2"))).toEqual([
    "conflict",
    "ready",
    "missing",
    "ready",
  ]);
  expect(dump(database)).toEqual(before);
  expect(host.head()).toBe(1);
});

test("stores 5: a conflict answers the present snapshot with its state", () => {
  commit(create("a", '{"present":true}'));
  expect(commit(create("a", "1"))).toEqual({
    status: "rejected",
    sequence: 1,
    verdicts: [{ status: "conflict", current: read("a") }],
  });
});

test("C1, H3: a commit that fails at any of its statements leaves nothing, and the next one knows what is there", () => {
  commit(create("a", "{}"), create("b", "{}"), create("c", "{}"));
  const [a, b, c] = [read("a"), read("b"), read("c")];
  host.call("me", "registerWaiter", waiter("a", a, "sleeper", { readPaths: paths(["x"]) }));
  host.call("me", "registerWaiter", waiter("b", b, "other sleeper"));
  host.call("me", "registerWaiter", waiter("c", c, "me"));
  const operations = [
    replace("a", a, '{"x":1}', { changedPaths: paths(["x"]), step: record("me") }),
    remove("b", b, { step: record("me") }),
    create("d", "{}", { step: record("me") }),
  ];
  const before = dump(database);
  events.length = 0;

  const failingAt = (statement: number): unknown => {
    database.failAfter(statement, new Error(`statement ${statement} failed`));
    try {
      return commit(...operations);
    } catch (error) {
      return error;
    }
  };
  let failures = 0;
  let outcome: unknown;
  while ((outcome = failingAt(failures)) instanceof Error) {
    expect(outcome.message).toBe(`statement ${failures} failed`);
    expect(dump(database)).toEqual(before);
    expect(host.head()).toBe(1);
    expect(events).toEqual([]);
    failures += 1;
  }
  expect(outcome).toEqual({ status: "committed", sequence: 2 });
  expect(failures).toBeGreaterThan(20);
  expect(events).toMatchObject([
    { type: "commit", changes: [{ sequence: 2 }, { sequence: 2 }, { sequence: 2 }] },
    { type: "wake", executionIds: ["sleeper", "other sleeper"] },
  ]);
});

test("C5: events are published after the transaction, changes before wakes", () => {
  commit(create("a", "{}"));
  host.call("me", "registerWaiter", waiter("a", read("a"), "sleeper"));
  commit(replace("a", read("a"), "[]"));
  expect(events.map((event) => event.type)).toEqual(["commit", "commit", "wake"]);
  expect(publishedInTransaction).toBe(false);
});

test("C2: sequences have no gap over refused commits, failures and discards of nothing", () => {
  const sequences: number[] = [];
  for (let index = 0; index < 30; index++) {
    if (index % 2 === 0) commit(discard("nothing"));
    if (index % 3 === 1) commit(create("store 0", "{}"), create(`refused ${index}`, "{}"));
    database.failAfter(index % 6, new Error("on purpose"));
    expect(() => commit(create(`failed ${index}`, "{}"), create(`failed too ${index}`, "{}"))).toThrow("on purpose");
    sequences.push(commit(create(`store ${index}`, "{}"), create(`second ${index}`, "{}")).sequence);
  }
  expect(sequences).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  const feed = database.all<{ sequence: number }>("SELECT DISTINCT sequence FROM changes ORDER BY sequence");
  expect(feed.map(({ sequence }) => sequence)).toEqual(sequences);
});

test("an instance id that another store has is refused, and nothing of the commit is written", () => {
  const id = instanceId();
  commit(create("a", "{}", { instanceId: id }));
  const before = dump(database);
  expect(() => commit(create("c", "{}"), create("b", "{}", { instanceId: id }))).toThrow(InvalidArgumentError);
  const twice = instanceId();
  expect(() => commit(create("c", "{}", { instanceId: twice }), create("d", "{}", { instanceId: twice }))).toThrow(
    InvalidArgumentError,
  );
  expect(dump(database)).toEqual(before);
});

test("a discard of nothing with a step records the step and takes no sequence", () => {
  expect(commit(discard("nothing", { step: record("E") }))).toEqual({ status: "committed", sequence: 0 });
  expect(verdicts(discard("nothing", { step: record("E") }))).toEqual(["already-applied"]);
});
