/** The records that make a commit which is sent again be applied once, and commits in groups. */
import { assert, integer, property } from "fast-check";
import { beforeEach, expect, test } from "vitest";
import type { CommitOutcome, StoreReading } from "../../src/protocol/connector.js";
import { OutcomeUnknownError, ProtocolViolationError } from "../../src/protocol/errors.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import type { Attempt, CallNumber } from "../../src/protocol/wire.js";
import { type CommitCall, createStoreHost, type Settled, type StoreHost } from "../../worker/connector.js";
import { loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { create, key, record, replace } from "../conformance/requests.js";
import { type FailingDatabase, failingDatabase } from "./failing-database.js";

let database: FailingDatabase;
let host: StoreHost;
let now: number;
let events: StoreEvent[];

const open = (): StoreHost =>
  createStoreHost(database, { clock: () => now, publish: (event) => void events.push(event) });

beforeEach(async () => {
  database = failingDatabase(openMemoryDatabase(await loadSqlite()));
  now = 1_000_000;
  events = [];
  host = open();
});

const sent = (number: number, attempt: Attempt = "first", acknowledged = number): CallNumber => ({
  number,
  acknowledged,
  attempt,
});

function commit(operations: readonly unknown[], number: CallNumber, session = "me"): CommitOutcome {
  return host.call(session, "commit", { operations }, number) as CommitOutcome; // What "commit" answers.
}

function read(storeId: string): StoreReading["snapshot"] {
  return (host.call("me", "readStore", key(storeId)) as StoreReading).snapshot; // What "readStore" answers.
}

const recorded = (): unknown[] => database.all("SELECT session, number, sequence FROM session_calls ORDER BY number");

test("stores 10: a commit that is sent again to the next owner is answered from its record and not applied twice", () => {
  const first = create("a", "{}");
  const outcome = commit([first], sent(1));
  host = open();
  expect(commit([first], sent(1, "again"))).toEqual(outcome);
  expect(read("a")?.version).toBe(0);
  expect(host.head()).toBe(1);
});

test("stores 10: a commit that had not arrived is applied when it is sent again", () => {
  host = open();
  expect(commit([create("a", "{}")], sent(1, "again"))).toMatchObject({ status: "committed", sequence: 1 });
});

test("stores 10: a refusal is not recorded: sent again, the commit is judged anew", () => {
  const instance = create("a", "{}");
  const early = replace("a", { instanceId: instance.instanceId, version: 0 }, "[1]");
  expect(commit([early], sent(1)).status).toBe("rejected");
  commit([instance], sent(2, "first", 1), "another");
  expect(commit([early], sent(1, "again")).status).toBe("committed");
});

test("tabs 7: what a client has acknowledged is dropped, in batches, and refused should it arrive once more", () => {
  for (let number = 1; number <= 200; number++) commit([create(String(number), "{}")], sent(number));
  expect(recorded().length).toBeLessThan(100);
  const discard = { type: "discard", ...key("200"), definitionVersion: 1 };
  expect(() => commit([discard], sent(150, "again", 150))).toThrow(ProtocolViolationError);
  expect(read("200")).not.toBeNull();
});

test("tabs 7: a commit of a session that was removed is never applied: its outcome is unknown", () => {
  commit([create("a", "{}")], sent(1));
  host.endSession("me");
  now += 60_001;
  host.removeEndedSessions(60_000, () => false);
  expect(recorded()).toEqual([]);
  expect(() => commit([create("b", "{}")], sent(2, "returning"))).toThrow(OutcomeUnknownError);
  expect(read("b")).toBeNull();
  // What the page computes from then on is new, and known to be.
  expect(commit([create("c", "{}")], sent(3)).status).toBe("committed");
});

test("tabs 7: a session is removed only after its bound, and not if its client came back", () => {
  const first = create("a", "{}");
  const outcome = commit([first], sent(1));
  host.endSession("me");
  now += 60_000;
  host.removeEndedSessions(60_000, () => false);
  expect(commit([first], sent(1, "returning"))).toEqual(outcome);
  now += 60_000;
  host.removeEndedSessions(60_000, (session) => session === "me");
  expect(commit([first], sent(1, "returning"))).toEqual(outcome);
});

test("tabs 7: a client that was away once and came back is not taken for gone by the next owner", () => {
  commit([create("a", "{}")], sent(1));
  host.endSession("me");
  const second = create("b", "{}");
  const outcome = commit([second], sent(2));
  now += 60_001;
  host = open();
  host.removeEndedSessions(60_000, () => false); // It has not heard of any session yet.
  expect(commit([second], sent(2, "again"))).toEqual(outcome);
});

test("tabs 7: a session that left leaves nothing behind", () => {
  commit([create("a", "{}")], sent(1));
  host.removeSession("me");
  expect(recorded()).toEqual([]);
  expect(host.standingSessions()).toEqual([]);
});

test("a commit whose operations all have a step leaves no record: its receipts answer for it", () => {
  commit([{ ...create("a", "{}"), step: record("E", "1") }], sent(1));
  expect(recorded()).toEqual([]);
});

function together(...calls: readonly (readonly [operations: readonly unknown[], number: CallNumber])[]): Settled[] {
  return [
    ...host.commitAll(
      calls.map(([operations, number]): CommitCall => ({ session: "me", body: { operations }, sent: number })),
    ),
  ];
}

test("tabs 10: commits of a group get one sequence each, in order, and are told in one event", () => {
  const a = create("a", "{}");
  const outcomes = together(
    [[a], sent(1)],
    [[replace("a", { instanceId: a.instanceId, version: 0 }, "[1]")], sent(2, "first", 1)],
    [[create("b", "{}")], sent(3, "first", 1)],
  );
  expect(outcomes).toMatchObject([1, 2, 3].map((sequence) => ({ status: "done", value: { sequence } })));
  expect(events).toHaveLength(1);
  expect(events).toMatchObject([{ type: "commit", changes: [{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }] }]);
});

test("tabs 10: a member that is refused, or malformed, does not touch the others", () => {
  const outcomes = together(
    [[create("a", "{}")], sent(1)],
    [[create("a", "{}")], sent(2, "first", 1)],
    [[], sent(3, "first", 1)],
    [[create("b", "{}")], sent(4, "first", 1)],
  );
  expect(outcomes).toMatchObject([
    { status: "done", value: { status: "committed" } },
    { status: "done", value: { status: "rejected" } },
    { status: "failed", error: { code: "invalid-argument" } },
    { status: "done", value: { status: "committed", sequence: 2 } },
  ]);
});

test("tabs 10: wherever a statement of a group fails, every member runs again alone, and none is applied twice or lost", () => {
  assert(
    property(integer({ min: 0, max: 40 }), integer({ min: 2, max: 6 }), (failAfter, size) => {
      const before = host.head();
      events.length = 0;
      const ids = Array.from({ length: size }, () => crypto.randomUUID());
      const base = 1 + before * 10;
      database.failAfter(failAfter, new Error("the disk said no"));
      const outcomes = together(
        ...ids.map((id, index) => [[create(id, "{}")], sent(base + index, "first", base)] as const),
      );
      database.failAfter(Number.POSITIVE_INFINITY, new Error("not again"));
      const applied = ids.filter((id) => read(id) !== null);
      const answered = ids.filter((_, index) => outcomes[index]?.status === "done");
      expect(answered).toEqual(applied);
      expect(applied).toEqual(ids); // What failed once as a group goes well alone.
      expect(host.head()).toBe(before + applied.length);
      const told = events.flatMap((event) => (event.type === "commit" ? event.changes.map((c) => c.storeId) : []));
      expect(told).toEqual(applied);
    }),
  );
});
