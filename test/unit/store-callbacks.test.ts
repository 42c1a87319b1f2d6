import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { CasStoreClient } from "../../src/cas-store-client.js";
import { defineStore } from "../../src/define-store.js";
import type { StoreConnector } from "../../src/protocol/connector.js";
import {
  DraftMisuseError,
  ValidationFailedError,
  ValueNotDurableError,
  WakefulError,
} from "../../src/protocol/errors.js";
import { createStores, type Stores } from "../../src/stores.js";
import type { StoreHandle } from "../../src/store-client.js";
import { AsyncCounter, Board, Counter } from "../support/definitions.js";
import { failure } from "../support/failure.js";
import { gate, openProbedDatabase, type ProbedDatabase } from "../support/probed-database.js";

let database: ProbedDatabase;
let connector: StoreConnector;
let stores: Stores;

beforeEach(() => {
  database = openProbedDatabase();
  connector = database.connect("mine");
  stores = createStores(connector);
});
afterEach(() => stores.close());

/** All there is in the database, as far as a connector can see. */
async function everything(): Promise<unknown> {
  const observer = database.connect("observer");
  const read = async (storeName: string): Promise<unknown> =>
    Promise.all(
      (await observer.listStores({ storeName, limit: 100 })).map((storeId) =>
        observer.readStore({ storeName, storeId }),
      ),
    );
  const receipt = await observer.getAppliedStoreStep({
    storeName: "board",
    storeId: "x",
    executionId: "e",
    stepKey: "s",
  });
  const wakes = await observer.readWakes({ limit: 100, claim: false });
  const contents = [await read("board"), await read("counter"), await read("async-counter"), receipt, wakes];
  await observer.close();
  return contents;
}

/** The typed error that `attempt` is refused with. */
async function refused(attempt: Promise<unknown>): Promise<WakefulError> {
  const error = await failure(attempt);
  if (error instanceof WakefulError) return error;
  throw new Error("No typed error was thrown.", { cause: error });
}

test("stores 3: a promise from an updater, selector, claim or `initial` is refused, and nothing is written", async () => {
  const client = new CasStoreClient(database.connect());
  const address = { definition: Board, id: "x" };
  // What a promise is for: code that runs on behind the caller's back.
  const later = (async () => undefined) as unknown as () => undefined;
  // oxlint-disable-next-line unicorn/no-thenable -- that is what is tested
  const thenable = (() => ({ then: () => undefined })) as unknown as () => undefined;
  const before = await everything();
  for (const callback of [later, thenable]) {
    const attempts = [
      client.updateStore({ ...address, updater: callback }),
      client.takeFromStore({ ...address, selector: callback, claim: () => undefined }),
      client.takeFromStore({ ...address, selector: () => true, claim: callback }),
      client.transactStores({ stores: { board: address }, updater: callback }),
      stores.store(Board, "x").when(callback),
      stores.store(Board, "x").take(callback, () => undefined),
      client.getStore({ definition: defineStore("board", Board.schema, { initial: callback as never }), id: "x" }),
    ];
    for (const attempt of attempts) expect((await refused(attempt)).code).toBe("draft-misuse");
  }
  expect(await everything()).toEqual(before);
});

test("stores 14: a state that the schema refuses changes nothing, and the error carries the schema's issues", async () => {
  const handle = stores.store(Board, "x");
  const { version } = await handle.update((draft) => void (draft.count = 1));
  const before = await everything();
  const error = await refused(
    handle.update(
      (draft) => {
        draft.jobs.push({ id: "a", done: "yes" as unknown as boolean });
      },
      { stepId: { executionId: "e", stepKey: "s" } },
    ),
  );
  expect(error).toBeInstanceOf(ValidationFailedError);
  expect(error).toMatchObject({ issues: [{ path: ["jobs", 0, "done"] }] });
  expect(error.message).toContain('"board"');
  expect(await everything()).toEqual(before);
  expect((await handle.update(() => undefined)).previousVersion).toBe(version);
});

test("stores 14: what cannot be stored changes nothing, and the error says where and why", async () => {
  const Anything = defineStore("board", z.object({ value: z.any() }), { initial: () => ({ value: null }) });
  const handle = stores.store(Anything, "x");
  await handle.get();
  const before = await everything();
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const values = [
    new Date(0),
    new Map(),
    undefined,
    10n,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    () => 1,
    Symbol("s"),
    cycle,
  ];
  for (const value of values) {
    const error = await refused(handle.update((draft) => void (draft.value = [value])));
    expect(error).toBeInstanceOf(ValueNotDurableError);
    expect(error.details["path"]).toEqual(expect.arrayContaining(["value", 0]));
  }
  const accessor = Object.defineProperty({}, "now", { enumerable: true, get: () => expect.unreachable() });
  expect(await refused(handle.update((draft) => void (draft.value = accessor)))).toBeInstanceOf(ValueNotDurableError);
  expect(await everything()).toEqual(before);
});

test("stores 14: a selected value that cannot be stored changes nothing", async () => {
  const client = new CasStoreClient(connector);
  const before = await everything();
  const take = client.takeFromStore({
    definition: Board,
    id: "x",
    selector: () => new Date(0),
    claim: (draft) => void draft.count++,
  });
  expect(await refused(take)).toBeInstanceOf(ValueNotDurableError);
  expect(await everything()).toEqual(before);
});

test("stores 14: a callback that throws changes nothing, and its own error comes back", async () => {
  const handle = stores.store(Board, "x");
  const client = new CasStoreClient(database.connect());
  await handle.get();
  const before = await everything();
  const boom = new Error("boom");
  const fail = (): never => {
    throw boom;
  };
  const address = { definition: Board, id: "x" };
  const attempts = [
    handle.update((draft) => {
      draft.count = 5;
      fail();
    }),
    client.takeFromStore({ ...address, selector: fail, claim: () => undefined }),
    client.takeFromStore({ ...address, selector: () => true, claim: fail }),
    client.transactStores({ stores: { a: address, b: { definition: Counter, id: "x" } }, updater: fail }),
    handle.when(fail),
    handle.take(fail, () => undefined),
    client.getStore({ definition: defineStore("counter", Counter.schema, { initial: fail }), id: "missing" }),
  ];
  for (const attempt of attempts) expect(await failure(attempt)).toBe(boom);
  expect(await everything()).toEqual(before);
  expect((await handle.update((draft) => void draft.count++)).state.count).toBe(1);
});

test("stores 15: editing what was returned changes nothing stored, nothing cached and nobody else's copy", async () => {
  const handle = stores.store(Board, "x");
  const updated = await handle.update((draft) => void draft.jobs.push({ id: "a", done: false }));
  const spoil = (state: unknown): void => {
    const board = state as { title: string; jobs: { id: string }[] };
    board.title = "spoilt";
    for (const job of board.jobs) job.id = "spoilt";
    board.jobs.push({ id: "more" });
  };
  const seen: unknown[] = [];
  const stop = handle.watch(
    (state) => state.jobs,
    (jobs, snapshot) => {
      seen.push(structuredClone(jobs));
      (jobs as unknown[]).push({ id: "spoilt" });
      spoil(snapshot.state);
    },
  );
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  spoil(updated.state);
  spoil((await handle.get()).state);
  spoil(handle.peek()?.state);
  spoil({ title: "", jobs: await handle.when((state) => state.jobs) });
  const expected = { count: 0, title: "", jobs: [{ id: "a", done: false }] };
  expect(handle.peek()?.state).toEqual(expected);
  expect((await handle.get()).state).toEqual(expected);
  await handle.update((draft) => void draft.jobs.push({ id: "b", done: true }));
  expect(seen).toEqual([
    [{ id: "a", done: false }],
    [
      { id: "a", done: false },
      { id: "b", done: true },
    ],
  ]);
  const stored = await connector.readStore({ storeName: "board", storeId: "x" });
  expect(stored.snapshot?.state).toBe('{"count":0,"jobs":[{"done":false,"id":"a"},{"done":true,"id":"b"}],"title":""}');
  stop();
});

test("stores 15: editing later what was passed in changes nothing", async () => {
  const handle = stores.store(Board, "x");
  const job = { id: "a", done: false };
  await handle.update((draft) => void draft.jobs.push(job));
  job.id = "edited";
  const replacement = { count: 3, title: "new", jobs: [job] };
  const shared = { count: 1, title: "shared", jobs: [{ id: "s", done: false }] };
  const FromShared = defineStore("shared", Board.schema, { initial: () => shared });
  await stores.store(FromShared, "x").get();
  shared.jobs[0] = { id: "edited", done: true };
  expect((await stores.store(FromShared, "x").get()).state.jobs).toEqual([{ id: "s", done: false }]);
  expect((await handle.get()).state.jobs).toEqual([{ id: "a", done: false }]);
  await handle.update(() => replacement);
  replacement.jobs.length = 0;
  replacement.title = "edited";
  expect((await handle.get()).state).toEqual({ count: 3, title: "new", jobs: [{ id: "edited", done: false }] });
});

test("stores 15: what an asynchronous schema is judging cannot be edited meanwhile", async () => {
  const held = gate();
  const judging = gate();
  const schema = Board.schema;
  const slow: StandardSchemaV1<unknown, { count: number; title: string; jobs: { id: string; done: boolean }[] }> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: async (value) => {
        judging.open();
        await held.opened;
        return schema["~standard"].validate(value);
      },
    },
  };
  const Slow = defineStore("slow", slow, { initial: () => ({ count: 0, title: "", jobs: [] }) });
  const job = { id: "a", done: false };
  const updating = stores.store(Slow, "x").update((draft) => void draft.jobs.push(job));
  await judging.opened;
  job.id = "edited";
  held.open();
  expect((await updating).state.jobs).toEqual([{ id: "a", done: false }]);
});

test("stores 15: a draft that is used after its updater has returned throws", async () => {
  const handle = stores.store(Board, "x");
  let kept: { title: string; jobs: unknown[] } | undefined;
  await handle.update((draft) => {
    kept = draft;
  });
  expect(() => kept?.title).toThrow(DraftMisuseError);
  expect(() => kept?.jobs).toThrow(DraftMisuseError);
  expect((await handle.get()).state.title).toBe("");
});

test("stores 16: returning a replacement, returning the draft, and editing it are three ways of one commit each", async () => {
  const handle = stores.store(Counter, "x");
  expect((await handle.update((draft) => ({ n: draft.n + 1 }))).state).toEqual({ n: 1 });
  expect(
    (
      await handle.update((draft) => {
        draft.n += 1;
        return draft;
      })
    ).state,
  ).toEqual({ n: 2 });
  expect((await handle.update((draft) => void draft.n++)).state).toEqual({ n: 3 });
  expect((await handle.get()).version).toBe(3);
});

test("stores 16: editing and replacing at once, or returning no object, is an error that says so", async () => {
  const handle = stores.store(Board, "x");
  await handle.get();
  const before = await everything();
  const accident = (draft: { jobs: unknown[] }): void => draft.jobs.push({}) as unknown as void;
  const both = (draft: { count: number }): { count: number; title: string; jobs: [] } => {
    draft.count = 1;
    return { count: 2, title: "", jobs: [] };
  };
  for (const updater of [accident, both, () => 5 as never, () => null as never]) {
    const error = await refused(handle.update(updater));
    expect(error).toBeInstanceOf(DraftMisuseError);
    expect(error.message).toMatch(/returned/);
  }
  expect(await everything()).toEqual(before);
});

test("stores 17: what the schema puts out is stored, and counts as changed", async () => {
  const Trimmed = defineStore(
    "trimmed",
    z.object({ text: z.string().transform((text) => text.trim()), length: z.number().default(0) }),
    { initial: () => ({ text: "", length: 0 }) },
  );
  const handle = stores.store(Trimmed, "x");
  await handle.get();
  const updated = await handle.update((draft) => {
    draft.text = "  hello ";
    delete (draft as { length?: number }).length;
  });
  expect(updated.state).toEqual({ text: "hello", length: 0 });
  const { snapshot } = await connector.readStore({ storeName: "trimmed", storeId: "x" });
  expect(snapshot?.state).toBe('{"length":0,"text":"hello"}');
  const reading = await connector.readChanges({ after: 1, limit: 10 });
  expect(reading).toMatchObject({ changes: [{ changedPaths: '[["text"]]' }] });
});

test("stores 17: validation runs once per commit, on what is encoded, and never on reading", async () => {
  const judged: unknown[] = [];
  const schema: StandardSchemaV1<unknown, { n: number }> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => {
        judged.push(structuredClone(value));
        return { value: value as { n: number } };
      },
    },
  };
  const Judged = defineStore("judged", schema, { initial: () => ({ n: 0 }) });
  const handle = stores.store(Judged, "x");
  await handle.update((draft) => void draft.n++);
  expect(judged).toEqual([{ n: 1 }]);
  await handle.get();
  await createStores(database.connect()).store(Judged, "x").get();
  expect(judged).toHaveLength(1);
  await handle.update((draft) => void draft.n++);
  expect(judged).toEqual([{ n: 1 }, { n: 2 }]);
});

test("stores 17: a schema may answer by a promise", async () => {
  const handle = stores.store(AsyncCounter, "x");
  const updates = await Promise.all(Array.from({ length: 10 }, () => handle.update((draft) => void draft.n++)));
  expect(updates.at(-1)?.state).toEqual({ n: 10 });
  expect(await refused(handle.update((draft) => void (draft.n = -1)))).toBeInstanceOf(ValidationFailedError);
  expect((await handle.get()).state).toEqual({ n: 10 });
  expect(await stores.store(AsyncCounter, "missing").when((state) => state.n === 0)).toBe(true);
});

test("stores 17: a signal that aborts while an asynchronous schema judges ends the call before anything is sent", async () => {
  const handle: StoreHandle<{ n: number }> = stores.store(AsyncCounter, "x");
  const controller = new AbortController();
  const updating = handle.update(
    (draft) => {
      draft.n = 1;
      queueMicrotask(() => controller.abort());
    },
    { signal: controller.signal },
  );
  expect((await refused(updating)).code).toBe("aborted");
  expect(database.calls("mine")).not.toContain("commit");
});
