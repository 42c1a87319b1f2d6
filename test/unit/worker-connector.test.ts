import { beforeEach, expect, test } from "vitest";
import type { StoredSnapshot, StoreReading, Wake } from "../../src/protocol/connector.js";
import { ClosedError, InvalidArgumentError, ProtocolViolationError, WakefulError } from "../../src/protocol/errors.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { STORE_METHODS, type StoreMethod } from "../../src/protocol/wire.js";
import { createStoreHost, type StoreHost } from "../../worker/connector.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { create, key, record, replace, waiter } from "../conformance/requests.js";

let database: Database;
let host: StoreHost;
let now: number;
let events: StoreEvent[];

function open(changesLimit?: number): StoreHost {
  return createStoreHost(database, {
    clock: () => now,
    publish: (event) => events.push(event),
    ...(changesLimit === undefined ? {} : { changesLimit }),
  });
}

beforeEach(async () => {
  database = openMemoryDatabase(await loadSqlite());
  now = 1000;
  events = [];
  host = open();
});

function read(storeId: string): StoredSnapshot {
  const { snapshot } = host.call("me", "readStore", key(storeId)) as StoreReading; // What "readStore" answers.
  if (snapshot === null) throw new Error(`The store ${storeId} is missing.`);
  return snapshot;
}

function claim(session: string): readonly string[] {
  const wakes = host.call(session, "readWakes", { limit: 10_000, claim: true }) as Wake[]; // What "readWakes" answers.
  return wakes.map((wake) => wake.executionId);
}

function write(storeId: string): void {
  host.call("me", "commit", { operations: [replace(storeId, read(storeId), "[]")] });
}

/** Stores with one sleeper each, woken. */
function sleepAndWake(...executionIds: readonly string[]): void {
  for (const executionId of executionIds) {
    host.call("me", "commit", { operations: [create(executionId, "{}")] });
    host.call("me", "registerWaiter", waiter(executionId, read(executionId), executionId));
    write(executionId);
  }
  events.length = 0;
}

const wakesHeard = (): unknown[] => events.flatMap((event) => (event.type === "wake" ? event.executionIds : []));

test("every event carries the epoch of its owner, and a commit the session that made it", () => {
  host.call("someone", "commit", { operations: [create("a", "{}")] });
  host = open();
  host.call("someone else", "commit", { operations: [create("b", "{}")] });
  expect(events).toMatchObject([
    { epoch: 1, changes: [{ origin: "someone" }] },
    { epoch: 2, changes: [{ origin: "someone else" }] },
  ]);
});

test("tabs 23: times are those of the clock that was injected", () => {
  sleepAndWake("E");
  now = 500;
  write("E");
  expect(host.call("me", "readWakes", { limit: 1, claim: false })).toMatchObject([{ requestedAt: 500 }]);
  host.call("me", "forgetExecution", "E");
  expect(database.get("SELECT forgotten_at AS at FROM forgotten_executions")).toEqual({ at: 500 });
});

test("a session that ends gives back what it claimed, and only wakes that still stand are announced", () => {
  sleepAndWake("E", "F");
  expect(claim("one")).toEqual(["E", "F"]);
  expect(claim("two")).toEqual([]);
  const [first] = host.call("two", "readWakes", { limit: 1, claim: false }) as Wake[]; // What "readWakes" answers.
  host.call("two", "acknowledgeWake", { executionId: "E", generation: first?.generation });
  host.endSession("two");
  expect(wakesHeard()).toEqual([]);
  host.endSession("one");
  expect(wakesHeard()).toEqual(["F"]);
  expect(claim("two")).toEqual(["F"]);
});

test("a wake requested again while it is delivered is announced once that delivery is acknowledged", () => {
  sleepAndWake("E");
  const [claimed] = host.call("one", "readWakes", { limit: 1, claim: true }) as Wake[]; // What "readWakes" answers.
  write("E");
  expect(claim("two")).toEqual([]);
  events.length = 0;
  host.call("one", "acknowledgeWake", { executionId: "E", generation: claimed?.generation });
  expect(wakesHeard()).toEqual(["E"]);
  expect(claim("two")).toEqual(["E"]);
});

test("more wakes than one page holds are claimed past those that others have", () => {
  const executionIds = Array.from({ length: 600 }, (_, index) => `e${String(index).padStart(3, "0")}`);
  host.call("me", "commit", { operations: [create("a", "{}")] });
  for (const executionId of executionIds) host.call("me", "registerWaiter", waiter("a", read("a"), executionId));
  write("a");
  const taken = host.call("one", "readWakes", { limit: 550, claim: true }) as Wake[]; // What "readWakes" answers.
  expect(taken).toHaveLength(550);
  const rest = host.call("two", "readWakes", { limit: 100, claim: true }) as Wake[]; // What "readWakes" answers.
  expect(rest.map((found) => found.executionId)).toEqual(executionIds.slice(550));
  expect(claim("three")).toEqual([]);
});

test("stores 11: a step whose result is recorded registers no waiter, and its execution is woken to find that out", () => {
  host.call("me", "commit", { operations: [create("a", "{}", { step: record("E") })] });
  expect(host.call("me", "registerWaiter", waiter("a", read("a"), "E"))).toEqual({ status: "woken" });
  expect(database.get("SELECT count(*) AS waiters FROM store_waiters")).toEqual({ waiters: 0 });
  expect(claim("me")).toEqual(["E"]);
});

test("stores 9: forgetting an execution leaves one tombstone of it and nothing else", () => {
  sleepAndWake("E");
  host.call("me", "commit", { operations: [create("b", "{}", { step: record("E", "one") })] });
  host.call("me", "registerWaiter", waiter("b", read("b"), "E", { stepKey: "two" }));
  host.call("me", "forgetExecution", "E");
  for (const table of ["store_applied_steps", "store_waiters", "store_waiter_paths", "store_wakes"]) {
    expect(database.all(`SELECT * FROM ${table}`)).toEqual([]);
  }
  expect(database.all("SELECT execution_id AS id FROM forgotten_executions")).toEqual([{ id: "E" }]);
});

test("the change feed keeps what the app asked for, and no bound below one change is taken", () => {
  host = open(3);
  for (let index = 0; index < 20; index++) {
    host.call("me", "commit", { operations: [create(`store ${index}`, "{}")] });
  }
  expect(host.call("me", "readChanges", { after: 0, limit: 10 })).toMatchObject({ status: "trimmed", head: 20 });
  for (const limit of [0, -1, 1.5, Number.NaN]) {
    expect(() => host.setChangesLimit(limit)).toThrow(InvalidArgumentError);
    expect(() => open(limit)).toThrow(InvalidArgumentError);
  }
});

test("a host that closed throws ClosedError at every call, and leaves the database open for the next", () => {
  host.call("me", "commit", { operations: [create("a", "{}")] });
  host.close();
  host.close();
  host.endSession("me");
  for (const method of STORE_METHODS) expect(() => host.call("me", method, key("a"))).toThrow(ClosedError);
  expect(open().head()).toBe(1);
});

test("a call that nobody knows is a protocol violation", () => {
  // As it could arrive from another build.
  expect(() => host.call("me", "dropEverything" as StoreMethod, {})).toThrow(ProtocolViolationError);
});

test("C6: whatever is sent as a request, a WakefulError comes back or the call is done", () => {
  const bodies = [undefined, null, 0, "", "text", [], {}, { operations: null }, { storeName: {} }, { limit: "1" }];
  for (const method of STORE_METHODS) {
    for (const body of bodies) {
      if (method === "forgetExecution" && body === "text") continue;
      expect(() => host.call("me", method, body)).toThrow(WakefulError);
    }
  }
});
