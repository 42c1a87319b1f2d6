import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AbortedError, ClosedError, NoOwnerError } from "../../src/protocol/errors.js";
import { createStores, type Stores } from "../../src/stores.js";
import { type StoreWake, WakeClaims } from "../../src/wakes.js";
import { Counter } from "../support/definitions.js";
import { type ManualScheduler, manualScheduler } from "../support/manual-scheduler.js";
import { failure } from "../support/failure.js";
import { gate, openProbedDatabase, type ProbedDatabase } from "../support/probed-database.js";

let database: ProbedDatabase;
let clock: ManualScheduler;
let stores: Stores;
let others: Stores;

beforeEach(() => {
  database = openProbedDatabase();
  clock = manualScheduler();
  stores = createStores(database.connect("mine"), { clock });
  others = createStores(database.connect("others"), { clock });
});
afterEach(() => Promise.all([stores.close(), others.close()]));

/** A waiter that is woken at once, since its store is missing. */
async function wake(executionId: string): Promise<void> {
  const registered = await others.registerWaiter({
    workflowId: "w",
    executionId,
    stepKey: "s",
    storeName: "counter",
    storeId: "missing",
    instanceId: "none",
    sinceVersion: 0,
    readPaths: [[]],
  });
  expect(registered).toEqual({ status: "woken" });
}

const unread = (): Promise<unknown> => database.connect().readWakes({ limit: 100, claim: false });

async function next(feed: AsyncIterator<StoreWake>): Promise<StoreWake> {
  const { value } = await feed.next();
  return value as StoreWake;
}

test("stores 12: a commit that touches what a waiter read wakes its execution, and one that does not wakes nobody", async () => {
  const { instanceId, version } = await others.store(Counter, "x").get();
  const waiter = {
    workflowId: "w",
    stepKey: "s",
    storeName: "counter",
    storeId: "x",
    instanceId,
    sinceVersion: version,
  };
  await others.registerWaiter({ ...waiter, executionId: "elsewhere", readPaths: [["other"]] });
  await others.registerWaiter({ ...waiter, executionId: "here", readPaths: [["n"]] });
  const feed = stores.wakes();
  const woken = next(feed);
  await others.store(Counter, "x").update((draft) => void draft.n++);
  expect(await woken).toMatchObject({ workflowId: "w", executionId: "here", generation: expect.any(Number) });
  expect(await unread()).toMatchObject([{ executionId: "here" }]);
  await feed.return?.();
});

test("stores 13: each wake goes to one client, and is gone once it is acknowledged", async () => {
  const feeds = [stores.wakes(), others.wakes()];
  const delivered: string[] = [];
  const delivering = feeds.map(async (feed) => {
    for await (const delivery of feed) {
      delivered.push(delivery.executionId);
      await delivery.acknowledge();
      await delivery.acknowledge();
    }
  });
  const ended = Promise.allSettled(delivering);
  const executions = Array.from({ length: 20 }, (_, index) => `e${index}`);
  for (const execution of executions) await wake(execution);
  await vi.waitFor(() => expect(delivered).toHaveLength(20));
  expect([...delivered].sort()).toEqual([...executions].sort());
  await vi.waitFor(async () => expect(await unread()).toEqual([]));
  await Promise.all([stores.close(), others.close()]);
  for (const { reason } of (await ended) as PromiseRejectedResult[]) expect(reason).toBeInstanceOf(ClosedError);
});

test("stores 13: a wake that stays open keeps no other from being handed out", async () => {
  const feed = stores.wakes();
  for (const execution of ["a", "b", "c"]) await wake(execution);
  const open = [await next(feed), await next(feed), await next(feed)];
  expect(open.map(({ executionId }) => executionId).sort()).toEqual(["a", "b", "c"]);
  const later = next(feed);
  await wake("d");
  expect(await later).toMatchObject({ executionId: "d" });
  await open[1]?.acknowledge();
  await feed.return?.();
});

test("stores 13: an acknowledgement never removes a newer request, which comes again", async () => {
  const feed = stores.wakes();
  await wake("a");
  const first = await next(feed);
  const second = next(feed);
  await wake("a");
  await first.acknowledge();
  const again = await second;
  expect(again).toMatchObject({ executionId: "a" });
  expect(again.generation).toBeGreaterThan(first.generation);
  await again.acknowledge();
  expect(await unread()).toEqual([]);
  await feed.return?.();
});

test("stores 13: what is released, or left open when the iteration ends, goes to another client", async () => {
  const mine = stores.wakes();
  const theirs = others.wakes();
  await wake("a");
  const released = await next(mine);
  const elsewhere = next(theirs);
  await released.release();
  // Whoever asks first gets it.
  expect(await elsewhere).toMatchObject({ executionId: "a" });
  await (await elsewhere).acknowledge();

  await wake("b");
  const fails = (async () => {
    for await (const delivery of mine) throw new Error(`cannot deliver ${delivery.executionId}`);
  })();
  await expect(fails).rejects.toThrow("cannot deliver b");
  expect(await next(theirs)).toMatchObject({ executionId: "b" });
  await theirs.return?.();
});

test("stores 13: clients that share a session do not deliver the same wake", async () => {
  const connector = database.connect("shared");
  const wakeClaims = new WakeClaims();
  const [first, second] = [
    createStores(connector, { clock, wakeClaims }),
    createStores(connector, { clock, wakeClaims }),
  ];
  await wake("a");
  const feeds = [first.wakes(), second.wakes()] as const;
  expect(await next(feeds[0])).toMatchObject({ executionId: "a" });
  const later = next(feeds[1]);
  await wake("b");
  expect(await later).toMatchObject({ executionId: "b" });
  for (const feed of feeds) await feed.return?.();
});

test("stores 13: a lost event costs one sweep, and a missing owner a little longer", async () => {
  const feed = stores.wakes();
  const woken = next(feed);
  await vi.waitFor(() => expect(database.calls("mine")).toContain("readWakes"));
  database.filterEvents(() => false);
  database.fault({
    method: "readWakes",
    session: "mine",
    at: "before",
    times: 2,
    act: () => Promise.reject(new NoOwnerError("none")),
  });
  await wake("a");
  await vi.waitFor(() => {
    clock.advance(5_000);
    expect(database.calls("mine").filter((method) => method === "readWakes").length).toBeGreaterThan(3);
  });
  expect(await woken).toMatchObject({ executionId: "a" });
  await feed.return?.();
});

test("stores Public surface: a signal ends the iteration over wakes, and gives back what is open", async () => {
  const controller = new AbortController();
  const feed = stores.wakes({ signal: controller.signal });
  await wake("a");
  await next(feed);
  const aborted = failure(feed.next());
  controller.abort();
  expect(await aborted).toBeInstanceOf(AbortedError);
  const theirs = others.wakes();
  expect(await next(theirs)).toMatchObject({ executionId: "a" });
  await theirs.return?.();
});

test("stores 13: a wake whose reader gave up while it was being claimed goes to another client", async () => {
  const controller = new AbortController();
  const reply = gate();
  database.fault({ method: "readWakes", session: "mine", at: "after", act: () => reply.opened });
  await wake("a");
  const given = failure(stores.wakes({ signal: controller.signal }).next());
  await vi.waitFor(async () => expect(database.calls("mine")).toContain("readWakes"));
  const feed = others.wakes();
  const delivered = next(feed);
  await vi.waitFor(() => expect(database.calls("others")).toContain("readWakes"));
  controller.abort();
  expect(await given).toBeInstanceOf(AbortedError);
  reply.open();
  expect(await delivered).toMatchObject({ executionId: "a" });
  await feed.return?.();
});
