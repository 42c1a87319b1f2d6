import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expect, test, vi } from "vitest";
import { AbortedError, NoOwnerError, OwnerUnresponsiveError } from "../../src/protocol/errors.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { defineStore } from "../../src/define-store.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { gate, openProbedDatabase, stutteringConnector } from "../support/probed-database.js";
import { useTwoClients } from "../support/two-clients.js";

const clients = useTwoClients();

test("tabs 11: events that come twice and late are told once", async () => {
  const { database, clock, elsewhere } = clients();
  const stuttering = createStores(stutteringConnector(database.connect()), { clock });
  const sequences: number[] = [];
  stuttering.on("commit", ({ changes }) => sequences.push(...changes.map(({ sequence }) => sequence)));
  const titles: string[] = [];
  const stop = stuttering.store(Board, "x").watch(
    (state) => state.title,
    (title) => titles.push(title),
  );
  await vi.waitFor(() => expect(titles).toEqual([""]));
  for (const title of ["a", "b", "c"]) await elsewhere.update((draft) => void (draft.title = title));
  await vi.waitFor(() => expect(titles.at(-1)).toBe("c"));
  expect(sequences).toEqual([1, 2, 3]);
  expect(new Set(titles).size).toBe(titles.length);
  stop();
  await stuttering.close();
});

test("tabs 11: a gap in the sequence makes the client catch up from the feed, and only waits that are concerned look again", async () => {
  const { database, theirs, board, elsewhere, heard } = clients();
  await elsewhere.get();
  const title = vi.fn<(state: { readonly title: string }) => boolean>((state) => state.title === "go");
  const count = vi.fn<(state: { readonly count: number }) => boolean>((state) => state.count > 100);
  const waiting = board.when(title);
  void board.when(count).catch(() => undefined);
  await vi.waitFor(() => expect(count).toHaveBeenCalledTimes(1));
  await heard();
  database.filterEvents((event, session) => session !== "mine" || event.type !== "commit");
  await elsewhere.update((draft) => void (draft.title = "go"));
  await elsewhere.update((draft) => void (draft.title = "still go"));
  await elsewhere.update((draft) => void (draft.title = "go"));
  database.filterEvents(() => true);
  database.forget();
  await theirs.store(Counter, "another").get();
  expect(await waiting).toBe(true);
  expect(count).toHaveBeenCalledTimes(1);
  expect(database.calls("mine")).toEqual(["readChanges", "readStore"]);
});

test("tabs 11: when the last event before silence is lost, a sweep finds out", async () => {
  const { database, clock, board, elsewhere, heard } = clients();
  const waiting = board.when((state) => state.title === "go");
  await heard();
  database.filterEvents((_event, session) => session !== "mine");
  await elsewhere.update((draft) => void (draft.title = "go"));
  clock.advance(4_999);
  clock.advance(1);
  expect(await waiting).toBe(true);
});

test("tabs 11: nobody sweeps while nobody waits", async () => {
  const { clock, board } = clients();
  await board.get();
  expect(clock.pending).toBe(0);
  const controller = new AbortController();
  const waiting = board.when((state) => state.title === "go", { signal: controller.signal });
  expect(clock.pending).toBe(1);
  controller.abort();
  await expect(waiting).rejects.toThrow(AbortedError);
  expect(clock.pending).toBe(0);
});

test("tabs 11: a feed that is trimmed past a gap makes the client read anew what is waited for", async () => {
  const { clock } = clients();
  const database = openProbedDatabase({ changesLimit: 2 });
  const mine = createStores(database.connect("mine"), { clock });
  const theirs = createStores(database.connect("theirs"));
  const waiting = mine.store(Board, "x").when((state) => state.title === "go");
  const heard = new Promise((resolve) => mine.on("commit", resolve));
  await theirs.store(Counter, "noise").get();
  await heard;
  database.filterEvents((_event, session) => session !== "mine");
  await theirs.store(Board, "x").update((draft) => void (draft.title = "go"));
  for (let round = 0; round < 5; round++) await theirs.store(Counter, "noise").update((draft) => void draft.n++);
  clock.advance(5_000);
  expect(await waiting).toBe(true);
  await Promise.all([mine.close(), theirs.close()]);
});

test("tabs 4: waits survive a change of owner", async () => {
  const { database, clock, board, elsewhere, heard } = clients();
  const seen: string[] = [];
  const stop = board.watch(
    (state) => state.title,
    (title) => seen.push(title),
  );
  const waiting = board.when((state) => state.title === "go");
  const taking = board.take(
    (state) => state.jobs[0],
    (draft) => void draft.jobs.shift(),
  );
  await heard();
  // While the owner changes, events are lost, and what is read fails.
  database.filterEvents((event) => event.type === "owner");
  database.fault({
    method: "readStore",
    session: "mine",
    at: "before",
    times: 3,
    act: () => Promise.reject(new NoOwnerError("none yet")),
  });
  await elsewhere.update((draft) => {
    draft.title = "go";
    draft.jobs.push({ id: "a", done: false });
  });
  database.restart();
  clock.advance(20_000);
  await vi.waitFor(() => {
    clock.advance(5_000);
    expect(seen).toContain("go");
  });
  expect(await waiting).toBe(true);
  expect(await taking).toEqual({ id: "a", done: false });
  stop();
});

test("tabs 4: a wait that begins while there is no owner waits for one, and its deadline still counts", async () => {
  const { database, clock, board } = clients();
  const none = (): Promise<never> => Promise.reject(new NoOwnerError("none"));
  database.fault({ method: "readStore", session: "mine", at: "before", times: 4, act: none });
  const deadline = clock.now() + 12_000;
  const seen: unknown[] = [];
  const waiting = board.when((state) => state.title === "").then((found) => seen.push(found));
  const late = board.when((state) => state.title === "never", { deadline });
  await vi.waitFor(() => expect(database.calls("mine")).toContain("readStore"));
  clock.advance(12_000);
  expect(await late).toEqual({ status: "timed-out" });
  await vi.waitFor(() => {
    clock.advance(5_000);
    expect(seen).toEqual([true]);
  });
  await waiting;
});

test("tabs 4, stores 9: a waiting take with a step whose reply was lost with its owner finds its own receipt", async () => {
  const { database, clock, board, elsewhere } = clients();
  const taking = board.take(
    (state) => state.jobs[0],
    (draft) => void draft.jobs.shift(),
    { stepId: { executionId: "E", stepKey: "take" } },
  );
  await vi.waitFor(() => expect(clock.pending).toBe(1));
  database.fault({
    method: "commit",
    session: "mine",
    at: "after",
    act: () => Promise.reject(new OwnerUnresponsiveError("gone", { outcome: "repeatable" })),
  });
  await elsewhere.update((draft) => void draft.jobs.push({ id: "a", done: false }));
  const taken = vi.fn<(job: unknown) => void>();
  void taking.then(taken);
  await vi.waitFor(() => {
    clock.advance(5_000);
    expect(taken).toHaveBeenCalledWith({ id: "a", done: false });
  });
});

test("tabs 15: when the database is another one, what was cached is dropped and waits begin anew", async () => {
  const { database, clock } = clients();
  const other = openProbedDatabase();
  const first = database.connect("switching");
  const second = other.connect("switching");
  let current = first;
  const listeners = new Set<(event: StoreEvent) => void>();
  const forward = (from: typeof first) => (event: StoreEvent) => {
    if (from === current) for (const listener of listeners) listener(event);
  };
  first.subscribe(forward(first));
  second.subscribe(forward(second));
  const stores = createStores(
    {
      ...first,
      readStore: (key, options) => current.readStore(key, options),
      commit: (request, options) => current.commit(request, options),
      readChanges: (request, options) => current.readChanges(request, options),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    { clock },
  );
  const handle = stores.store(Board, "x");
  for (const title of ["a", "b", "c"]) await handle.update((draft) => void (draft.title = title));
  const seen: unknown[] = [];
  const stop = handle.watch(
    (state) => state.title,
    (title, { version }) => seen.push([title, version]),
  );
  const waiting = handle.when((state) => state.title === "new");
  await vi.waitFor(() => expect(seen).toEqual([["c", 3]]));
  current = second;
  other.restart();
  await vi.waitFor(() => expect(seen.at(-1)).toEqual(["", null]));
  await createStores(other.connect())
    .store(Board, "x")
    .update((draft) => void (draft.title = "new"));
  expect(await waiting).toBe(true);
  await vi.waitFor(() => expect(seen.at(-1)).toEqual(["new", 1]));
  stop();
});

test("tabs 15: a watch that was looking while the database was replaced goes on with the new one's sequences", async () => {
  const { database: first, theirs } = clients();
  const second = openProbedDatabase();
  const checked = gate();
  const validations = vi.fn<() => void>();
  const schema: StandardSchemaV1<{ n: number }> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: async (value) => {
        validations();
        await checked.opened;
        return { value: value as { n: number } }; // What `initial` made, and the updater below.
      },
    },
  };
  const Slow = defineStore("slow", schema, { initial: () => ({ n: 0 }) });
  for (let commits = 0; commits < 5; commits++) await theirs.store(Counter, "noise").update((draft) => void draft.n++);
  const [before, after] = [first.connect("switching"), second.connect("switching")];
  let current = before;
  const listeners = new Set<(event: StoreEvent) => void>();
  for (const each of [before, after]) {
    each.subscribe((event) => {
      if (each === current) for (const listener of listeners) listener(event);
    });
  }
  const stores = createStores({
    ...before,
    readStore: (key, options) => current.readStore(key, options),
    readChanges: (request, options) => current.readChanges(request, options),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const databases = new Set<string>();
  stores.on("owner", ({ databaseId }) => databases.add(databaseId));
  first.restart();
  await vi.waitFor(() => expect(databases.size).toBe(1));
  const seen: number[] = [];
  const stop = stores.store(Slow, "x").watch(
    ({ n }) => n,
    (n) => seen.push(n),
  );
  await vi.waitFor(() => expect(validations).toHaveBeenCalled());
  current = after;
  second.restart();
  await vi.waitFor(() => expect(databases.size).toBe(2));
  checked.open();
  await createStores(second.connect())
    .store(Slow, "x")
    .update((draft) => void (draft.n = 7));
  await vi.waitFor(() => expect(seen.at(-1)).toBe(7));
  stop();
});
