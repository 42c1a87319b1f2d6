import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  AbortedError,
  ChangesTrimmedError,
  ClosedError,
  InvalidArgumentError,
  NoOwnerError,
} from "../../src/protocol/errors.js";
import type { StoreChange } from "../../src/store-change.js";
import { createStores, type Stores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { type ManualScheduler, manualScheduler } from "../support/manual-scheduler.js";
import { failure } from "../support/failure.js";
import { openProbedDatabase, type ProbedDatabase } from "../support/probed-database.js";

let database: ProbedDatabase;
let clock: ManualScheduler;
let stores: Stores;
let others: Stores;

beforeEach(() => {
  database = openProbedDatabase();
  clock = manualScheduler();
  stores = createStores(database.connect("mine"), { clock });
  others = createStores(database.connect("others"));
});
afterEach(() => Promise.all([stores.close(), others.close()]));

async function write(times: number, of: Stores = others): Promise<void> {
  for (let round = 0; round < times; round++) await of.store(Counter, "x").update((draft) => void draft.n++);
}

/** Reads the feed until there are `count` changes. */
async function collect(feed: AsyncIterable<StoreChange>, count: number): Promise<StoreChange[]> {
  const changes: StoreChange[] = [];
  if (count === 0) return changes;
  for await (const change of feed) {
    changes.push(change);
    if (changes.length === count) break;
  }
  return changes;
}

const positions = (changes: readonly StoreChange[]): string[] =>
  changes.map(({ sequence, position }) => `${sequence}.${position}`);

test("stores Public surface: the feed tells every change after a sequence, then those that come", async () => {
  await write(2);
  const feed = stores.changes({ after: 1 });
  const first = await feed.next();
  expect(first.value).toEqual({
    sequence: 2,
    position: 0,
    storeName: "counter",
    storeId: "x",
    instanceId: expect.any(String),
    version: 2,
    changedPaths: [["n"]],
    deleted: false,
    origin: "others",
  });
  const next = feed.next();
  await others.transact({ a: others.store(Counter, "a"), b: others.store(Board, "b") }, () => undefined);
  await others.delete(Counter, "x");
  expect((await next).value).toMatchObject({ sequence: 3, position: 0, storeId: "a" });
  expect((await feed.next()).value).toMatchObject({ sequence: 3, position: 1, storeId: "b" });
  expect((await feed.next()).value).toMatchObject({ sequence: 4, storeId: "x", deleted: true, version: 2 });
  await feed.return?.();
  expect(clock.pending).toBe(0);
});

test("stores Public surface: without `after` the feed begins with what is committed after the call", async () => {
  await write(3);
  const feed = stores.changes();
  await write(2, stores);
  expect(positions(await collect(feed, 2))).toEqual(["4.0", "5.0"]);
});

test("stores Public surface: what comes while a reader is up to date is taken from the events, and not read", async () => {
  const feed = stores.changes({ after: 0 });
  const started = feed.next();
  await write(1);
  await started;
  const waiting = feed.next();
  database.forget();
  await write(1);
  await waiting;
  for (let round = 0; round < 20; round++) {
    const next = feed.next();
    await write(1);
    expect((await next).value).toMatchObject({ sequence: 3 + round });
  }
  expect(database.calls("mine")).toEqual([]);
  await feed.return?.();
});

test("stores Public surface: nothing is missed or doubled, whatever becomes of the events and however slow the reader is", async () => {
  let heard = 0;
  database.filterEvents((_event, session) => session !== "mine" || heard++ % 3 !== 1);
  const total = 120;
  const reading = (async () => {
    const changes: StoreChange[] = [];
    for await (const change of stores.changes({ after: 0 })) {
      changes.push(change);
      if (changes.length % 7 === 0) await write(0);
      if (changes.length % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (changes.length === total) break;
    }
    return changes;
  })();
  await write(total);
  let isRead = false;
  void reading.then(() => {
    isRead = true;
  });
  await vi.waitFor(() => {
    clock.advance(5_000);
    expect(isRead).toBe(true);
  });
  expect(positions(await reading)).toEqual(Array.from({ length: total }, (_, index) => `${index + 1}.0`));
});

test("stores Public surface: several readers each have their own position", async () => {
  await write(3);
  const slow = stores.changes({ after: 0 });
  const fast = stores.changes({ after: 2 });
  expect(positions(await collect(fast, 1))).toEqual(["3.0"]);
  await write(2);
  expect(positions(await collect(slow, 5))).toEqual(["1.0", "2.0", "3.0", "4.0", "5.0"]);
});

test("stores Public surface: a feed longer than a page is read page by page", async () => {
  await Promise.all(Array.from({ length: 1500 }, (_, index) => others.store(Counter, `${index}`).get()));
  const changes = await collect(stores.changes({ after: 0 }), 1500);
  expect(changes.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 1500 }, (_, index) => index + 1));
});

test("stores Public surface: a position that is no longer kept, or not of this database, is a typed error", async () => {
  const small = openProbedDatabase({ changesLimit: 2 });
  const own = createStores(small.connect());
  await write(5, own);
  const error: unknown = await own
    .changes({ after: 1 })
    .next()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ChangesTrimmedError);
  const { oldest } = error as ChangesTrimmedError;
  expect(oldest).toBe(4);
  expect(positions(await collect(own.changes({ after: oldest - 1 }), 2))).toEqual(["4.0", "5.0"]);
  await expect(own.changes({ after: 99 }).next()).rejects.toThrow(ChangesTrimmedError);
  for (const after of [-1, 1.5, Number.NaN, "1" as unknown as number]) {
    expect(() => own.changes({ after })).toThrow(InvalidArgumentError);
  }
  await own.close();
});

test("stores Public surface: a reader whose changes are trimmed while it sleeps gets the typed error", async () => {
  const small = openProbedDatabase({ changesLimit: 2 });
  const own = createStores(small.connect("mine"), { clock });
  const peer = createStores(small.connect());
  await write(1, peer);
  const feed = own.changes({ after: 0 });
  await feed.next();
  const next = feed.next();
  const refused = failure(next);
  small.filterEvents(() => false);
  await write(5, peer);
  clock.advance(5_000);
  expect(await refused).toBeInstanceOf(ChangesTrimmedError);
  await Promise.all([own.close(), peer.close()]);
});

test("stores Public surface: a signal or closing ends the feed with a typed error", async () => {
  const controller = new AbortController();
  const aborted = failure(stores.changes({ signal: controller.signal }).next());
  controller.abort();
  expect(await aborted).toBeInstanceOf(AbortedError);
  await expect(stores.changes({ signal: controller.signal }).next()).rejects.toThrow(AbortedError);
  const closed = failure(stores.changes().next());
  await stores.close();
  expect(await closed).toBeInstanceOf(ClosedError);
});

test("tabs 4: the feed goes on over a change of owner, also when no owner answers for a while", async () => {
  await write(1);
  const feed = stores.changes({ after: 0 });
  await feed.next();
  const next = feed.next();
  database.filterEvents((event) => event.type === "owner");
  database.fault({
    method: "readChanges",
    session: "mine",
    at: "before",
    times: 2,
    act: () => Promise.reject(new NoOwnerError("none")),
  });
  await write(2);
  database.restart();
  await vi.waitFor(() => {
    clock.advance(5_000);
    expect(database.calls("mine").length).toBeGreaterThan(4);
  });
  expect((await next).value).toMatchObject({ sequence: 2 });
  expect((await feed.next()).value).toMatchObject({ sequence: 3 });
  await feed.return?.();
});
