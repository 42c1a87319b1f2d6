import { afterEach, beforeEach, expect, type Mock, test, vi } from "vitest";
import { z } from "zod";
import { defineStore } from "../../src/define-store.js";
import type { StoreConnector } from "../../src/protocol/connector.js";
import { ClientOutdatedError, InvalidArgumentError, StorageFullError, toWire } from "../../src/protocol/errors.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { createStores } from "../../src/stores.js";
import { Counter } from "../support/definitions.js";
import { openProbedDatabase } from "../support/probed-database.js";

const Text = defineStore("text", z.object({ text: z.string() }), { initial: () => ({ text: "" }) });

/** A connector that also says what a test tells it to. */
function talkingConnector(): {
  connector: StoreConnector;
  say: (event: StoreEvent) => void;
  database: ReturnType<typeof openProbedDatabase>;
} {
  const database = openProbedDatabase();
  const connector = database.connect("mine");
  const listeners = new Set<(event: StoreEvent) => void>();
  return {
    database,
    say: (event) => {
      for (const listener of listeners) listener(event);
    },
    connector: {
      ...connector,
      subscribe: (listener) => {
        listeners.add(listener);
        const stop = connector.subscribe(listener);
        return () => {
          listeners.delete(listener);
          stop();
        };
      },
    },
  };
}

const printed = ["log", "debug", "info", "warn", "error"] as const;
beforeEach(() => {
  for (const method of printed) vi.spyOn(console, method).mockImplementation(() => undefined);
});
afterEach(() => void vi.restoreAllMocks());

test("tabs 25: commits, conflicts, wakes, owners, storage and errors are announced until the listener is removed", async () => {
  const { connector, say, database } = talkingConnector();
  const stores = createStores(connector);
  const types = ["commit", "conflict", "wake", "owner", "storage", "error"] as const;
  type Listener = Mock<(event: unknown) => void>;
  const heard = Object.fromEntries(types.map((type) => [type, vi.fn<(event: unknown) => void>()])) as Record<
    (typeof types)[number],
    Listener
  >;
  const stops = types.map((type) => stores.on(type, heard[type]));
  const other = createStores(database.connect("other")).store(Counter, "x");
  await other.get();
  await vi.waitFor(() => expect(heard.commit).toHaveBeenCalledTimes(1));
  expect(heard.commit).toHaveBeenLastCalledWith({
    changes: [
      {
        sequence: 1,
        position: 0,
        storeName: "counter",
        storeId: "x",
        instanceId: expect.any(String),
        version: 0,
        changedPaths: [[]],
        deleted: false,
        origin: "other",
      },
    ],
  });
  await stores.store(Counter, "x").get();
  database.fault({
    method: "commit",
    session: "mine",
    at: "before",
    act: async () => void (await other.update((draft) => void draft.n++)),
  });
  await stores.store(Counter, "x").update((draft) => void draft.n++);
  expect(heard.conflict).toHaveBeenLastCalledWith({ storeName: "counter", storeId: "x", lostRaces: 1 });

  const owner: StoreEvent = { type: "owner", epoch: 7, host: "tab", databaseId: "d", sequence: 0, storage: "opfs" };
  const full: StoreEvent = { type: "storage", epoch: 7, status: "full", reason: "the disk is full" };
  say({ type: "wake", epoch: 7, executionIds: ["e"] });
  say(full);
  say({ type: "error", error: toWire(new StorageFullError("no room")) });
  database.restart();
  expect(heard.wake).toHaveBeenLastCalledWith(expect.objectContaining({ executionIds: ["e"] }));
  expect(heard.storage).toHaveBeenLastCalledWith(full);
  expect(heard.error).toHaveBeenLastCalledWith({ error: expect.any(StorageFullError) });
  await vi.waitFor(() =>
    expect(heard.owner).toHaveBeenLastCalledWith(expect.objectContaining({ type: "owner", epoch: 2 })),
  );

  for (const stop of stops) stop();
  for (const type of types) heard[type].mockClear();
  say(owner);
  say(full);
  await stores.store(Counter, "x").update((draft) => void draft.n++);
  for (const type of types) expect(heard[type]).not.toHaveBeenCalled();
});

test("tabs 25: a client that is outdated is told once, so that the app reloads itself once", () => {
  const { connector, say } = talkingConnector();
  const stores = createStores(connector);
  const outdated = vi.fn<() => void>();
  stores.on("outdated", outdated);
  for (let round = 0; round < 3; round++) {
    say({ type: "error", error: toWire(new ClientOutdatedError("reload")) });
  }
  expect(outdated).toHaveBeenCalledTimes(1);
  expect(outdated).toHaveBeenCalledWith({ error: expect.any(ClientOutdatedError) });
});

test("tabs 25: a listener that throws disturbs nobody, and its error is announced", async () => {
  const { connector } = talkingConnector();
  const stores = createStores(connector);
  const boom = new Error("boom");
  const errors = vi.fn<() => void>();
  const calm = vi.fn<() => void>();
  stores.on("error", errors);
  stores.on("commit", () => {
    throw boom;
  });
  stores.on("commit", calm);
  stores.on("error", () => {
    throw new Error("thrown while being told of an error");
  });
  await stores.store(Counter, "x").update((draft) => void draft.n++);
  await vi.waitFor(() => expect(calm).toHaveBeenCalledTimes(1));
  expect(errors).toHaveBeenCalledTimes(1);
  expect(errors).toHaveBeenCalledWith({ error: boom });
});

test("tabs 25: without listeners and logger nothing is printed; a logger hears what matters", async () => {
  const silent = talkingConnector();
  const stores = createStores(silent.connector);
  silent.say({ type: "storage", epoch: 1, status: "lost", reason: "gone" });
  silent.say({ type: "error", error: toWire(new StorageFullError("no room")) });
  await stores.store(Counter, "x").update((draft) => void draft.n++);
  for (const method of printed) expect(console[method]).not.toHaveBeenCalled();

  const logger = { debug: vi.fn<() => void>(), warn: vi.fn<() => void>(), error: vi.fn<() => void>() };
  const { connector, say } = talkingConnector();
  createStores(connector, { logger });
  say({ type: "storage", epoch: 1, status: "lost", reason: "gone" });
  say({ type: "error", error: toWire(new StorageFullError("no room")) });
  expect(logger.warn).toHaveBeenCalledWith("wakeful: storage", expect.objectContaining({ status: "lost" }));
  expect(logger.error).toHaveBeenCalledWith("wakeful: error", { error: expect.any(StorageFullError) });
});

test("stores Limits: a state past 1 MB is announced as slow, in bytes of UTF-8", async () => {
  const { connector } = talkingConnector();
  const stores = createStores(connector);
  const slow = vi.fn<() => void>();
  stores.on("slow", slow);
  const overhead = '{"text":""}'.length;
  const handle = stores.store(Text, "x");
  await handle.update((draft) => void (draft.text = "x".repeat(1024 * 1024 - overhead)));
  expect(slow).not.toHaveBeenCalled();
  await handle.update((draft) => void (draft.text = "\u20ac".repeat(400_000)));
  expect(slow).toHaveBeenCalledWith({ storeName: "text", storeId: "x", bytes: 1_200_000 + overhead });
});

test("stores Limits: a state past 16 MB is refused before anything is sent, and nothing is written", async () => {
  const { connector, database } = talkingConnector();
  const handle = createStores(connector).store(Text, "x");
  await handle.get();
  database.forget();
  const large = handle.update((draft) => void (draft.text = "\u20ac".repeat(6_000_000)));
  await expect(large).rejects.toThrow(InvalidArgumentError);
  expect(database.calls("mine")).toEqual([]);
  expect((await handle.get()).version).toBe(0);
});

test("stores Limits: names and ids that could be confused or are too long are refused", async () => {
  const { connector, database } = talkingConnector();
  const stores = createStores(connector);
  for (const id of [
    "",
    "x".repeat(1025),
    "\u20ac".repeat(342),
    "a\0b",
    "\ud800",
    "\udc00x",
    5 as unknown as string,
    undefined as unknown as string,
  ]) {
    expect(() => stores.store(Counter, id)).toThrow(InvalidArgumentError);
    await expect(stores.getStore({ definition: Counter, id })).rejects.toThrow(InvalidArgumentError);
    await expect(stores.delete(Counter, id)).rejects.toThrow(InvalidArgumentError);
    await expect(stores.forgetExecution(id)).rejects.toThrow(InvalidArgumentError);
  }
  expect(database.calls("mine")).toEqual([]);
  expect((await stores.store(Counter, "x".repeat(1024)).get()).version).toBe(0);
});
