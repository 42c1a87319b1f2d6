import { expect, test, vi } from "vitest";
import { z } from "zod";
import { defineStore } from "../../src/define-store.js";
import { Board, Counter } from "../support/definitions.js";
import { gate } from "../support/probed-database.js";
import { useTwoClients } from "../support/two-clients.js";

const clients = useTwoClients();

test("stores 20: a watch reports the present value, then each that differs, and skips what does not", async () => {
  const { board, elsewhere, heard } = clients();
  const seen: unknown[] = [];
  const stop = board.watch(
    (state) => ({ title: state.title, open: state.jobs.filter(({ done }) => !done) }),
    (value, snapshot) => seen.push([value, snapshot.version]),
  );
  await vi.waitFor(() => expect(seen).toEqual([[{ title: "", open: [] }, null]]));
  await elsewhere.update((draft) => void draft.count++);
  await elsewhere.update((draft) => void draft.jobs.push({ id: "a", done: true }));
  await elsewhere.update((draft) => void (draft.title = "b"));
  await vi.waitFor(() => expect(seen).toHaveLength(2));
  expect(seen[1]).toEqual([{ title: "b", open: [] }, 3]);
  stop();
  stop();
  await elsewhere.update((draft) => void (draft.title = "after"));
  await heard();
  expect(seen).toHaveLength(2);
});

test("stores 20: a client's own commit is in its `peek` and its watches before the call returns", async () => {
  const { database, mine, board } = clients();
  const seen: string[] = [];
  const stop = board.watch(
    (state) => state.title,
    (title) => seen.push(title),
  );
  await vi.waitFor(() => expect(seen).toEqual([""]));
  // Not even the event is needed.
  database.filterEvents(() => false);
  for (const title of ["a", "b", "c"]) {
    await board.update((draft) => void (draft.title = title));
    expect(seen.at(-1)).toBe(title);
    expect(board.peek()?.state.title).toBe(title);
  }
  await mine.delete(Board, "x");
  expect(seen).toEqual(["", "a", "b", "c", ""]);
  expect(board.peek()).toEqual({ state: { count: 0, title: "", jobs: [] }, instanceId: null, version: null });
  stop();
});

test("stores 20: `peek` is undefined until this client has read, and makes no call", async () => {
  const { database, board, elsewhere, heard } = clients();
  await elsewhere.update((draft) => void (draft.title = "there"));
  await heard();
  expect(board.peek()).toBeUndefined();
  const read = await board.get();
  database.forget();
  expect(board.peek()).toEqual(read);
  expect(database.calls("mine")).toEqual([]);
});

test("stores 20: a watch never goes back, whichever order readings and events arrive in", async () => {
  const { database, theirs, board, elsewhere } = clients();
  const versions: number[] = [];
  const held = gate();
  database.fault({ method: "readStore", session: "mine", at: "after", act: () => held.opened });
  const stop = board.watch(
    (state) => state.count,
    (count) => versions.push(count),
  );
  await elsewhere.update((draft) => void draft.count++);
  // Its own commits overtake the reading that is still on its way.
  await theirs.store(Counter, "other").get();
  void Promise.resolve().then(() => held.open());
  for (let round = 0; round < 10; round++) {
    await Promise.all([board.update((draft) => void draft.count++), elsewhere.update((draft) => void draft.count++)]);
  }
  await theirs.delete(Board, "x");
  await elsewhere.update((draft) => void (draft.count = 1000));
  await vi.waitFor(() => expect(versions.at(-1)).toBe(1000));
  const rising = versions.filter((count) => count > 0);
  expect(rising).toEqual([...rising].sort((a, b) => a - b));
  expect(new Set(rising).size).toBe(rising.length);
  stop();
});

test("stores 20: an error in selector or callback is reported, and the watch lives on", async () => {
  const { board } = clients();
  const errors: unknown[] = [];
  const seen: number[] = [];
  const stop = board.watch(
    (state) => {
      if (state.count === 1) throw new Error("in the selector");
      return state.count;
    },
    (count) => {
      if (count === 2) throw new Error("in the callback");
      seen.push(count);
    },
    { onError: (error) => errors.push((error as Error).message) },
  );
  await vi.waitFor(() => expect(seen).toEqual([0]));
  for (const count of [1, 2, 3]) await board.update((draft) => void (draft.count = count));
  expect(errors).toEqual(["in the selector", "in the callback"]);
  expect(seen).toEqual([0, 3]);
  stop();
});

test("stores 20: an error that a watch has no listener for goes to the `error` event, as does one thrown by `onError`", async () => {
  const { mine, board } = clients();
  const errors: unknown[] = [];
  mine.on("error", ({ error }) => errors.push((error as Error).message));
  const fail = (message: string) => (): never => {
    throw new Error(message);
  };
  const stops = [
    board.watch(fail("unheard"), () => undefined),
    board.watch(fail("first"), () => undefined, { onError: fail("second") }),
  ];
  await vi.waitFor(() => expect(new Set(errors)).toEqual(new Set(["second", "unheard"])));
  for (const stop of stops) stop();
});

test("stores 20: a watch ends with its signal, from within its own callback, too", async () => {
  const { board, heard } = clients();
  const controller = new AbortController();
  const seen: number[] = [];
  board.watch(
    (state) => state.count,
    (count) => {
      seen.push(count);
      if (count === 1) controller.abort();
    },
    { signal: controller.signal },
  );
  await vi.waitFor(() => expect(seen).toEqual([0]));
  await board.update((draft) => void draft.count++);
  await board.update((draft) => void draft.count++);
  await heard();
  expect(seen).toEqual([0, 1]);
});

test("stores 20: a value that has no canonical text is reported after each change of what it is made of", async () => {
  const { board } = clients();
  const seen: number[] = [];
  const stop = board.watch(
    (state) => new Map(state.jobs.map((job) => [job.id, job.done])),
    (jobs) => seen.push(jobs.size),
  );
  await vi.waitFor(() => expect(seen).toEqual([0]));
  await board.update((draft) => void draft.count++);
  await board.update((draft) => void draft.jobs.push({ id: "a", done: false }));
  expect(seen).toEqual([0, 0, 1]); // The creation changed everything.
  stop();
});

test("stores 20: a watch of a store whose rows must be migrated by an asynchronous schema sees each version once", async () => {
  const { mine, theirs } = clients();
  const schema = z.object({ n: z.number(), label: z.string().refine(async () => true) });
  const Old = defineStore("moved", z.object({ n: z.number() }), { initial: () => ({ n: 0 }) });
  const New = defineStore("moved", schema, {
    version: 2,
    initial: () => ({ n: 0, label: "new" }),
    migrate: (state) => ({ ...(state as { n: number }), label: "migrated" }),
  });
  await theirs.store(Old, "x").update((draft) => void draft.n++);
  const seen: unknown[] = [];
  const stop = mine.store(New, "x").watch(
    (state) => state,
    (state) => seen.push(state),
  );
  await vi.waitFor(() => expect(seen).toEqual([{ n: 1, label: "migrated" }]));
  await theirs.store(Old, "x").update((draft) => void draft.n++);
  await vi.waitFor(() => expect(seen).toHaveLength(2));
  expect(seen[1]).toEqual({ n: 2, label: "migrated" });
  stop();
});
