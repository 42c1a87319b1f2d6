import { expect, test, vi } from "vitest";
import { AbortedError, ClosedError, OutcomeUnknownError } from "../../src/protocol/errors.js";
import { createStores, type Stores } from "../../src/stores.js";
import { Board } from "../support/definitions.js";
import { failure } from "../support/failure.js";
import { useTwoClients } from "../support/two-clients.js";

const clients = useTwoClients();

test("stores 1: `when` resolves with what its selector finds, now or after a commit of any client", async () => {
  const { board, elsewhere, heard } = clients();
  expect(await board.when((state) => state.jobs)).toEqual([]);
  const waiting = board.when((state) => state.jobs.find(({ done }) => done));
  await elsewhere.update((draft) => void draft.jobs.push({ id: "a", done: false }));
  await heard();
  await elsewhere.update((draft) => {
    const [job] = draft.jobs;
    if (job !== undefined) job.done = true;
  });
  expect(await waiting).toEqual({ id: "a", done: true });
});

test("stores 1: a wait looks again only after a change that intersects what it read, and reads nothing for others", async () => {
  const { database, board, elsewhere, heard } = clients();
  const selector = vi.fn<(state: { readonly title: string }) => boolean>((state) => state.title === "go");
  const waiting = board.when(selector);
  await vi.waitFor(() => expect(selector).toHaveBeenCalledTimes(1));
  database.forget();
  for (let round = 0; round < 5; round++) await elsewhere.update((draft) => void draft.count++);
  await heard();
  expect(selector).toHaveBeenCalledTimes(2); // The creation changed everything.
  expect(database.calls("mine")).toEqual(["readStore"]);
  await elsewhere.update((draft) => void (draft.title = "go"));
  expect(await waiting).toBe(true);
  expect(selector).toHaveBeenCalledTimes(3);
});

test("stores 1: many waits on one store share each reading", async () => {
  const { database, board, elsewhere, heard } = clients();
  await elsewhere.get();
  await heard();
  const waits = Array.from({ length: 50 }, () => board.when((state) => state.title === "go"));
  await heard();
  database.forget();
  await elsewhere.update((draft) => void (draft.title = "go"));
  await Promise.all(waits);
  expect(database.calls("mine").length).toBeLessThanOrEqual(2);
});

test("stores 1: changes that nobody waits for are not read", async () => {
  const { database, board, elsewhere, heard } = clients();
  await board.get();
  database.forget();
  for (let round = 0; round < 5; round++) await elsewhere.update((draft) => void draft.count++);
  await heard();
  expect(database.calls("mine")).toEqual([]);
  expect(board.peek()?.version).toBe(0);
});

test("stores 7: a deletion makes every wait look again, at the initial state", async () => {
  const { theirs, board, elsewhere, heard } = clients();
  await elsewhere.update((draft) => {
    draft.title = "there";
    draft.count = 3;
  });
  const seen: unknown[] = [];
  const stop = board.watch(
    (state) => state.title,
    (title, snapshot) => seen.push([title, snapshot.version]),
  );
  await vi.waitFor(() => expect(seen).toEqual([["there", 1]]));
  const waiting = board.when((state) => state.count === 0);
  const taking = board.take(
    (state) => state.count === 0 && { title: state.title },
    (draft) => void (draft.title = "taken"),
  );
  await heard();
  await theirs.delete(Board, "x");
  expect(await waiting).toBe(true);
  expect(await taking).toEqual({ title: "" });
  await vi.waitFor(() =>
    expect(seen).toEqual([
      ["there", 1],
      ["", null],
      ["taken", 1],
    ]),
  );
  stop();
});

test("stores 8: a waiting take claims what arrives, each item once, whoever else waits", async () => {
  const { database, mine, theirs, board, elsewhere } = clients();
  const takers = [mine, theirs, createStores(database.connect()), createStores(database.connect())];
  const taken: string[] = [];
  const taking = takers.flatMap((stores) =>
    Array.from({ length: 5 }, async () => {
      const job = await stores.store(Board, "x").take(
        (state) => state.jobs.find(({ done }) => !done),
        (_draft, found) => {
          found.done = true;
        },
      );
      taken.push(job.id);
    }),
  );
  for (let index = 0; index < 20; index++) {
    await elsewhere.update((draft) => void draft.jobs.push({ id: `job ${index}`, done: false }));
  }
  await Promise.all(taking);
  expect([...taken].sort()).toEqual(Array.from({ length: 20 }, (_, index) => `job ${index}`).sort());
  const { state, version } = await board.get();
  expect(state.jobs.every(({ done }) => done)).toBe(true);
  expect(version).toBe(40);
});

test("stores 8: takes of one client that wait for one store do not race each other", async () => {
  const { mine, board, elsewhere, heard } = clients();
  const conflicts = vi.fn<() => void>();
  mine.on("conflict", conflicts);
  await elsewhere.get();
  await heard();
  const selector = vi.fn<
    (state: { readonly jobs: readonly { readonly id: string }[] }) => { readonly id: string } | undefined
  >((state) => state.jobs[0]);
  const takes = Array.from({ length: 10 }, () => board.take(selector, (draft) => void draft.jobs.shift()));
  await vi.waitFor(() => expect(selector).toHaveBeenCalledTimes(10));
  await heard();
  await elsewhere.update((draft) => {
    for (let index = 0; index < 10; index++) draft.jobs.push({ id: `${index}`, done: false });
  });
  expect((await Promise.all(takes)).map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`));
  expect(conflicts).not.toHaveBeenCalled();
});

test("stores 4: lost races do not count against a waiting take", async () => {
  const { database, board, elsewhere } = clients();
  let races = 150;
  database.fault({
    method: "commit",
    session: "mine",
    at: "before",
    times: races,
    act: async () => {
      races -= 1;
      await elsewhere.update((draft) => void draft.count++);
    },
  });
  const taken = await board.take(
    () => true,
    (draft) => void (draft.title = "mine"),
  );
  expect(taken).toBe(true);
  expect(races).toBe(0);
});

test("stores 9: a waiting take with a step id is applied once, also when its reply is lost", async () => {
  const { database, mine, theirs, board, elsewhere } = clients();
  const stepId = { executionId: "e", stepKey: "s" };
  const take = (stores: Stores): Promise<unknown> =>
    stores.store(Board, "x").take(
      (state) => state.jobs[0],
      (draft) => void draft.jobs.shift(),
      { stepId },
    );
  database.fault({
    method: "commit",
    session: "mine",
    at: "after",
    act: () => Promise.reject(new OutcomeUnknownError("the owner went away")),
  });
  const first = take(mine);
  await elsewhere.update((draft) => void draft.jobs.push({ id: "a", done: false }, { id: "b", done: false }));
  expect(await first).toEqual({ id: "a", done: false });
  expect(await take(theirs)).toEqual({ id: "a", done: false });
  expect((await board.get()).state.jobs).toEqual([{ id: "b", done: false }]);
});

test("stores 10: a waiting take without a step id whose commit was lost ends as unknown, and takes nothing more", async () => {
  const { database, board, elsewhere, heard } = clients();
  database.fault({
    method: "commit",
    session: "mine",
    at: "after",
    act: () => Promise.reject(new OutcomeUnknownError("the owner went away")),
  });
  const taking = board.take(
    (state) => state.jobs[0],
    (draft) => void draft.jobs.shift(),
  );
  const ended = failure(taking);
  await elsewhere.update((draft) => void draft.jobs.push({ id: "a", done: false }, { id: "b", done: false }));
  expect(await ended).toBeInstanceOf(OutcomeUnknownError);
  await heard();
  expect((await elsewhere.get()).state.jobs).toEqual([{ id: "b", done: false }]);
});

test("stores Public surface: a signal ends a wait with AbortedError, whose cause is the reason", async () => {
  const { mine, board, heard } = clients();
  const reason = new Error("enough");
  const controller = new AbortController();
  const { signal } = controller;
  const waits = [
    board.when((state) => state.title === "go", { signal }),
    board.take(
      (state) => state.jobs[0],
      () => undefined,
      { signal },
    ),
  ];
  const ended = Promise.all(waits.map((wait) => wait.catch((error: unknown) => error)));
  await heard();
  controller.abort(reason);
  for (const error of await ended) {
    expect(error).toBeInstanceOf(AbortedError);
    expect((error as AbortedError).cause).toBe(reason);
  }
  for (const wait of [
    board.when(() => true, { signal }),
    board.take(
      () => true,
      () => undefined,
      { signal },
    ),
  ]) {
    await expect(wait).rejects.toThrow(AbortedError);
  }
  expect(await mine.list(Board)).toEqual([]);
});

test("stores Public surface: at its deadline a wait resolves as timed out; before, as matched", async () => {
  const { clock, board, elsewhere, heard } = clients();
  const deadline = clock.now() + 60_000;
  const lost = board.when((state) => state.title === "never", { deadline });
  const lostTake = board.take(
    (state) => state.jobs[0],
    () => undefined,
    { deadline },
  );
  const won = board.when((state) => state.title === "go" && state.title, { deadline });
  const wonTake = board.take(
    (state) => state.title === "go" && { title: state.title },
    (draft) => void draft.count++,
    { deadline },
  );
  await heard();
  await elsewhere.update((draft) => void (draft.title = "go"));
  expect(await won).toEqual({ status: "matched", value: "go" });
  expect(await wonTake).toEqual({ status: "matched", selected: { title: "go" } });
  clock.advance(59_999);
  await heard();
  clock.advance(1);
  expect(await lost).toEqual({ status: "timed-out" });
  expect(await lostTake).toEqual({ status: "timed-out" });
});

test("stores Public surface: a deadline that has passed still lets a wait look once", async () => {
  const { clock, board, elsewhere } = clients();
  await elsewhere.update((draft) => void (draft.title = "go"));
  const deadline = clock.now() - 1000;
  expect(await board.when((state) => state.title === "go", { deadline })).toEqual({ status: "matched", value: true });
  expect(await board.when((state) => state.title === "no", { deadline })).toEqual({ status: "timed-out" });
});

test("tabs 23: a deadline further away than timers reach is waited for in pieces", async () => {
  const { database, clock, heard } = clients();
  const days = 24 * 3600 * 1000;
  const patient = createStores(database.connect(), { clock, sweepInterval: 20 * days });
  let outcome: unknown;
  const lost = patient
    .store(Board, "x")
    .when((state) => state.title === "never", { deadline: clock.now() + 100 * days });
  void lost.then((settled) => {
    outcome = settled;
  });
  await heard();
  clock.advance(99 * days);
  await heard();
  expect(outcome).toBeUndefined();
  clock.advance(days);
  expect(await lost).toEqual({ status: "timed-out" });
  expect(Math.max(...clock.delays)).toBeLessThan(2 ** 31);
  await patient.close();
});

test("stores Public surface: closing ends what waits with ClosedError, and lets calls that were made finish", async () => {
  const { mine, board, elsewhere, heard } = clients();
  const ended = Promise.all(
    [
      board.when((state) => state.title === "never"),
      board.take(
        (state) => state.jobs[0],
        () => undefined,
      ),
    ].map((wait) => wait.catch((error: unknown) => error)),
  );
  await heard();
  const update = board.update((draft) => void (draft.title = "last words"));
  const closing = mine.close();
  expect(await update).toMatchObject({ state: { title: "last words" } });
  for (const error of await ended) expect(error).toBeInstanceOf(ClosedError);
  await closing;
  await mine.close();
  await expect(board.get()).rejects.toThrow(ClosedError);
  await expect(board.when(() => true)).rejects.toThrow(ClosedError);
  await expect(mine.list(Board)).rejects.toThrow(ClosedError);
  await expect(mine.storage()).rejects.toThrow(ClosedError);
  expect((await elsewhere.get()).state.title).toBe("last words");
});
