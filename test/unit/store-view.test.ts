/** What a client makes of replies and events that come in another order than they were sent, or not at all. */
import { expect, test, vi } from "vitest";
import type { StoreConnector } from "../../src/protocol/connector.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { type ManualScheduler, manualScheduler } from "../support/manual-scheduler.js";
import { gate, openProbedDatabase, type ProbedDatabase } from "../support/probed-database.js";
import { useTwoClients } from "../support/two-clients.js";

const clients = useTwoClients();

test("stores 20: a reply that is older than what is known never replaces it", async () => {
  const { database, board } = clients();
  await board.get();
  const held = gate();
  database.fault({ method: "readStore", session: "mine", at: "after", act: () => held.opened });
  const waiting = board.when((state) => state.title === "b" && state.title);
  await vi.waitFor(() => expect(database.calls("mine").at(-1)).toBe("readStore"));
  await board.update((draft) => void (draft.title = "a"));
  held.open();
  const title = await new Promise((resolve) => {
    board.watch((state) => state.title, resolve);
  });
  expect(title).toBe("a");
  expect(board.peek()).toMatchObject({ version: 1, state: { title: "a" } });
  await board.update((draft) => void (draft.title = "b"));
  expect(await waiting).toBe("b");
});

test("stores 20: a client's own commit is in its watches before the call returns, also while their first reading is on its way", async () => {
  const { database, board } = clients();
  const held = gate();
  database.fault({ method: "readStore", session: "mine", at: "after", act: () => held.opened });
  const seen: string[] = [];
  const stop = board.watch(
    (state) => state.title,
    (title) => seen.push(title),
  );
  const snapshot = await clients().elsewhere.update((draft) => void (draft.title = "theirs"));
  expect(snapshot.version).toBe(1);
  // The commit itself needs no reading: deleting by id is such a call.
  await clients().mine.delete(Board, "x");
  expect(seen).toEqual([""]);
  held.open();
  await board.update((draft) => void (draft.title = "mine"));
  expect(seen).toEqual(["", "mine"]);
  stop();
});

test("stores 20: a wait looks once at each commit, whether reply or event tells of it first", async () => {
  const { database, board, heard } = clients();
  await board.get();
  const selector = vi.fn<(state: { readonly count: number }) => boolean>((state) => state.count > 9);
  void board.when(selector).catch(() => undefined);
  await vi.waitFor(() => expect(selector).toHaveBeenCalledTimes(1));
  for (let commit = 1; commit <= 4; commit++) {
    const late = gate();
    if (commit % 2 === 0) late.open();
    database.filterEvents(() => late.opened.then(() => true));
    await board.update((draft) => void draft.count++);
    await vi.waitFor(() => expect(selector).toHaveBeenCalledTimes(1 + commit));
    late.open();
    await heard();
    await heard();
    expect(selector).toHaveBeenCalledTimes(1 + commit);
  }
});

test("stores 7: that a store is gone is known from the event, and not read", async () => {
  const { database, mine, theirs, board, heard } = clients();
  await board.update((draft) => void (draft.title = "there"));
  const seen: string[] = [];
  const stop = board.watch(
    (state) => state.title,
    (title) => seen.push(title),
  );
  await vi.waitFor(() => expect(seen).toEqual(["there"]));
  await heard();
  database.forget();
  await theirs.delete(Board, "x");
  await vi.waitFor(() => expect(seen).toEqual(["there", ""]));
  expect(database.calls("mine")).toEqual([]);
  expect(mine.store(Board, "x").peek()?.version).toBeNull();
  stop();
});

test("stores 6: a race that is lost on the way is answered without another reading", async () => {
  const { database, board, elsewhere } = clients();
  const snapshot = await board.get();
  const race = async (): Promise<void> => void (await elsewhere.update((draft) => void draft.count++));
  database.fault({ method: "commit", session: "mine", at: "before", act: race });
  database.forget();
  expect(await board.updateFrom(snapshot, () => undefined)).toMatchObject({ updated: false, actualVersion: 1 });
  expect(database.calls("mine")).toEqual(["commit"]);
});

test("stores 8: a take that begins to wait looks at the present state, though the cached one is behind", async () => {
  const { database, board, elsewhere } = clients();
  await board.get();
  database.filterEvents(() => false);
  await elsewhere.update((draft) => void draft.jobs.push({ id: "a", done: false }));
  const job = await board.take(
    (state) => state.jobs[0],
    (draft) => void draft.jobs.shift(),
  );
  expect(job).toEqual({ id: "a", done: false });
});

test("tabs 11: a change between two first readings whose replies cross is not missed", async () => {
  const database = openProbedDatabase();
  // This client never hears where the feed stands but from its readings.
  database.filterEvents((_event, session) => session !== "mine");
  const mine = createStores(database.connect("mine"), { clock: clients().clock });
  const theirs = createStores(database.connect("theirs"));
  const held = gate();
  database.fault({ method: "readStore", session: "mine", at: "after", act: () => held.opened });
  const waiting = mine.store(Board, "x").when((state) => state.title === "go");
  await vi.waitFor(() => expect(database.calls("mine")).toEqual(["readStore"]));
  await theirs.store(Board, "x").update((draft) => void (draft.title = "go"));
  await mine.store(Counter, "other").get();
  held.open();
  expect(await waiting).toBe(true);
});

/** A connector whose events a test can forge, and that can be moved to another database. */
function movableConnector(): {
  readonly connector: StoreConnector;
  readonly clock: ManualScheduler;
  readonly first: ProbedDatabase;
  readonly second: ProbedDatabase;
  readonly say: (event: StoreEvent) => void;
  readonly move: () => void;
} {
  const first = openProbedDatabase();
  const second = openProbedDatabase();
  const sessions = [first.connect("moving"), second.connect("moving")] as const;
  let current: StoreConnector = sessions[0];
  const listeners = new Set<(event: StoreEvent) => void>();
  const say = (event: StoreEvent): void => {
    for (const listener of [...listeners]) listener(event);
  };
  for (const session of sessions) session.subscribe((event) => session === current && say(event));
  return {
    first,
    second,
    say,
    clock: manualScheduler(),
    move: () => {
      current = sessions[1];
      second.restart();
    },
    connector: {
      ...sessions[0],
      readStore: (key, options) => current.readStore(key, options),
      commit: (request, options) => current.commit(request, options),
      readChanges: (request, options) => current.readChanges(request, options),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
}

test("tabs 15: what the database before still answers is not taken for the present one's", async () => {
  const { connector, clock, first, second, move } = movableConnector();
  const stores = createStores(connector, { clock });
  const board = stores.store(Board, "x");
  const firstPeer = createStores(first.connect());
  for (let round = 0; round < 5; round++) {
    await firstPeer.store(Board, "x").update((draft) => void (draft.title = `old ${round}`));
  }
  const heldRead = gate();
  const heldChanges = gate();
  first.fault({ method: "readStore", session: "moving", at: "after", act: () => heldRead.opened });
  first.fault({ method: "readChanges", session: "moving", at: "after", act: () => heldChanges.opened });
  const titles: string[] = [];
  const stop = board.watch(
    (state) => state.title,
    (title) => titles.push(title),
  );
  await vi.waitFor(() => expect(first.calls("moving")).toContain("readStore"));
  clock.advance(5_000);
  await vi.waitFor(() => expect(first.calls("moving")).toContain("readChanges"));
  const databases = new Set<string>();
  stores.on("owner", ({ databaseId }) => databases.add(databaseId));
  await vi.waitFor(() => expect(databases.size).toBe(1));
  move();
  await vi.waitFor(() => expect(databases.size).toBe(2));
  heldRead.open();
  heldChanges.open();
  await vi.waitFor(() => expect(titles).toEqual([""]));
  await createStores(second.connect())
    .store(Board, "x")
    .update((draft) => void (draft.title = "new"));
  await vi.waitFor(() => expect(titles).toEqual(["", "new"]));
  stop();
});

test("tabs 12: a mistaken event costs a reading, and no loop", async () => {
  const { connector, clock, first, say } = movableConnector();
  const stores = createStores(connector, { clock });
  const board = stores.store(Board, "x");
  const { instanceId } = await board.get();
  const errors = vi.fn<() => void>();
  stores.on("error", errors);
  const selector = vi.fn<(state: { readonly title: string }) => boolean>((state) => state.title === "go");
  const waiting = board.when(selector);
  await vi.waitFor(() => expect(selector).toHaveBeenCalledTimes(1));
  const forged = (sequence: number): StoreEvent => ({
    type: "commit",
    epoch: 1,
    changes: [
      {
        sequence,
        position: 0,
        storeName: "board",
        storeId: "x",
        instanceId,
        version: sequence,
        changedPaths: '[["title"]]',
        deleted: false,
        origin: "nobody",
      },
    ],
  });
  first.forget();
  say(forged(1_000_000));
  await vi.waitFor(() => expect(first.calls("moving")).toEqual(["readChanges"]));
  say(forged(2));
  await vi.waitFor(() => expect(selector).toHaveBeenCalledTimes(2));
  const peer = createStores(first.connect()).store(Board, "x");
  await peer.update((draft) => void draft.count++);
  await peer.update((draft) => void (draft.title = "go"));
  await vi.waitFor(() => {
    clock.advance(5_000);
    expect(selector.mock.results.at(-1)?.value).toBe(true);
  });
  expect(await waiting).toBe(true);
  expect(first.calls("moving").length).toBeLessThan(15);
  expect(errors).not.toHaveBeenCalled();
});
