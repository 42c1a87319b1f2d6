/** The connection on the real thing: real worker, real locks, real channels, both transports. */
import { v7 as instanceId } from "uuid";
import { afterEach, describe, expect, test } from "vitest";
import {
  type OpenConnectionOptions,
  openConnection,
  type WorkerConnector,
} from "../../src/connection/open-connection.js";
import type { CommitOperation } from "../../src/protocol/connector.js";
import type { CommitEvent, OwnerEvent, StoreEvent } from "../../src/protocol/events.js";
import { eventChannel, ownerLock, sessionChannel } from "../../src/protocol/wire.js";

const open = new Set<WorkerConnector>();
let name = "";

afterEach(async () => {
  for (const connector of open) await connector.close();
  open.clear();
});

async function connect(options: Partial<OpenConnectionOptions> = {}): Promise<WorkerConnector> {
  const connector = await openConnection({ name, ...options });
  open.add(connector);
  return connector;
}

function create(storeId: string, state: unknown = {}): CommitOperation {
  return {
    type: "create",
    storeName: "note",
    storeId,
    definitionVersion: 1,
    instanceId: instanceId(),
    version: 0,
    state: JSON.stringify(state),
    changedPaths: "[[]]",
  };
}

function nextEvent<T extends StoreEvent["type"]>(
  connector: WorkerConnector,
  type: T,
): Promise<Extract<StoreEvent, { type: T }>> {
  return new Promise((resolve) => {
    const stop = connector.subscribe((event) => {
      if (event.type !== type) return;
      stop();
      resolve(event as Extract<StoreEvent, { type: T }>); // Its type was compared just now.
    });
  });
}

/** The epoch of the owner that `connector` has met. */
function epochOf(connector: WorkerConnector): number {
  const owner = connector.standing().find((event) => event.type === "owner");
  if (owner === undefined) throw new Error("It has met no owner.");
  return owner.epoch;
}

async function ownersOf(database: string): Promise<number> {
  const { held = [] } = await navigator.locks.query();
  return held.filter((lock) => lock.name === ownerLock(database)).length;
}

describe.each(["port", "broadcast"] as const)("by %s", (transport) => {
  test("tabs 1: of two sessions one worker owns the database, and both are served by it", async () => {
    name = `connection-${crypto.randomUUID()}`;
    const first = await connect({ transport });
    const second = await connect({ transport });
    expect(await ownersOf(name)).toBe(1);
    expect((await first.commit({ operations: [create("a", { by: 1 })] })).status).toBe("committed");
    const reading = await second.readStore({ storeName: "note", storeId: "a" });
    expect(reading.snapshot?.state).toBe('{"by":1}');
  });

  test("tabs 11: a commit is heard by every session, the committing one included, after it can be read", async () => {
    name = `connection-${crypto.randomUUID()}`;
    const first = await connect({ transport });
    const second = await connect({ transport });
    const heard: Promise<CommitEvent>[] = [nextEvent(first, "commit"), nextEvent(second, "commit")];
    const outcome = await second.commit({ operations: [create("a")] });
    for (const event of await Promise.all(heard)) {
      expect(event.changes).toMatchObject([
        { sequence: outcome.sequence, storeId: "a", version: 0, deleted: false, origin: second.session },
      ]);
    }
  });

  test("tabs 4, tabs 5: when the owner closes, the other session goes on under a later epoch and sees all data", async () => {
    name = `connection-${crypto.randomUUID()}`;
    const first = await connect({ transport });
    const second = await connect({ transport });
    await first.commit({ operations: [create("a", { kept: true })] });
    const before = epochOf(second);
    const introduction: Promise<OwnerEvent> = nextEvent(second, "owner");
    await first.close();
    open.delete(first);
    const owner = await introduction;
    expect(owner.host).toBe(second.session);
    expect(owner.epoch).toBe(before + 1);
    const reading = await second.readStore({ storeName: "note", storeId: "a" });
    expect(reading.snapshot?.state).toBe('{"kept":true}');
  });

  test("tabs 12: what is not of the protocol is dropped, and nothing on the event channel writes", async () => {
    name = `connection-${crypto.randomUUID()}`;
    const connector = await connect({ transport });
    const forger = new BroadcastChannel(eventChannel(name));
    const stranger = new BroadcastChannel(sessionChannel(name, "stranger"));
    const epoch = epochOf(connector);
    const request = {
      session: "stranger",
      number: 1,
      acknowledged: 1,
      attempt: "first",
      epoch,
      method: "commit",
      body: { operations: [create("forged")] },
    };
    for (const message of [
      null,
      "commit",
      { type: "commit" },
      { type: "commit", epoch, changes: [{ sequence: "1" }] },
      { type: "wake", epoch, executionIds: [], more: true },
      { ...request, type: "commit" },
    ]) {
      forger.postMessage(message);
    }
    // Never said hello, so this session has no link.
    stranger.postMessage({ id: "1", type: "APPLY", path: [], argumentList: [{ type: "RAW", value: request }] });
    forger.postMessage({ id: "1", type: "APPLY", path: [], argumentList: [{ type: "RAW", value: request }] });
    const heard = nextEvent(connector, "commit");
    const fence = await connector.commit({ operations: [create("fence")] });
    expect(fence).toMatchObject({ status: "committed", sequence: 1 });
    expect((await heard).changes).toHaveLength(1);
    expect(await connector.listStores({ storeName: "note", limit: 10 })).toEqual(["fence"]);
    forger.close();
    stranger.close();
  });
});

test("tabs 8: between owners calls wait, and one that is given up before it was sent is never applied", async () => {
  name = `connection-${crypto.randomUUID()}`;
  const spawned: Worker[] = [];
  const Native = window.Worker;
  window.Worker = class extends Native {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      spawned.push(this);
    }
  };
  const connector = await connect();
  // Queued behind the owner: as long as this test holds the lock, nobody owns.
  let release = (): void => undefined;
  const nobodyOwns = new Promise<void>((resolve) => {
    void navigator.locks.request(ownerLock(name), () => {
      resolve();
      return new Promise<void>((freed) => {
        release = freed;
      });
    });
  });
  spawned[0]?.terminate();
  window.Worker = Native;
  await nobodyOwns;
  await untilQueued(ownerLock(name)); // The page has noticed, and its next worker is waiting.

  const givingUp = new AbortController();
  const givenUp = connector.commit({ operations: [create("given up")] }, { signal: givingUp.signal });
  const waiting = connector.commit({ operations: [create("waiting")] });
  givingUp.abort("not needed any more");
  await expect(givenUp).rejects.toMatchObject({ code: "aborted", cause: "not needed any more" });
  release();
  expect(await waiting).toMatchObject({ status: "committed", sequence: 1 });
  expect(await connector.listStores({ storeName: "note", limit: 10 })).toEqual(["waiting"]);
});

async function untilQueued(lock: string): Promise<void> {
  for (;;) {
    const { pending = [] } = await navigator.locks.query();
    if (pending.some((request) => request.name === lock)) return;
  }
}

test("tabs 15: storage tells where the data is", async () => {
  name = `connection-${crypto.randomUUID()}`;
  const connector = await connect();
  expect(await connector.storage()).toMatchObject({ kind: "opfs", durability: "strict" });
});

test("tabs 2: a session that asks for strict makes a relaxed owner strict", async () => {
  name = `connection-${crypto.randomUUID()}`;
  const relaxed = await connect({ durability: "relaxed" });
  expect(await relaxed.storage()).toMatchObject({ durability: "relaxed" });
  await connect({ durability: "strict" });
  expect(await relaxed.storage()).toMatchObject({ durability: "strict" });
});

test("tabs 6: a worker that cannot be loaded is a typed error, not a hang", async () => {
  name = `connection-${crypto.randomUUID()}`;
  await expect(connect({ workerUrl: "/no-such-worker.js" })).rejects.toMatchObject({
    code: "storage-unavailable",
  });
});
