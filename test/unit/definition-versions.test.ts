import { expect, test, vi } from "vitest";
import { z } from "zod";
import { CasStoreClient } from "../../src/cas-store-client.js";
import { defineStore } from "../../src/define-store.js";
import type { StoreConnector } from "../../src/protocol/connector.js";
import { DefinitionOutdatedError, InvalidArgumentError, MigrationFailedError } from "../../src/protocol/errors.js";
import { createStores } from "../../src/stores.js";
import { failure } from "../support/failure.js";
import { openProbedDatabase } from "../support/probed-database.js";

const One = defineStore("note", z.object({ text: z.string() }), { initial: () => ({ text: "" }) });
const twoSchema = z.object({ lines: z.array(z.string()), size: z.number().default(0) });
const migrate = vi.fn<(state: unknown, fromVersion: number) => unknown>((state) => ({
  lines: [(state as { text: string }).text],
}));
const Two = defineStore("note", twoSchema, { version: 2, initial: () => ({ lines: [], size: 0 }), migrate });

async function stored(connector: StoreConnector): Promise<unknown> {
  return (await connector.readStore({ storeName: "note", storeId: "x" })).snapshot;
}

test("stores 30: an older state passes `migrate` and the schema when it is read, and stays stored as it was", async () => {
  const connector = openProbedDatabase().connect();
  const stores = createStores(connector);
  const { version } = await stores.store(One, "x").update((draft) => void (draft.text = "hi"));
  const before = await stored(connector);
  migrate.mockClear();
  const handle = stores.store(Two, "x");
  expect(await handle.get()).toEqual({ state: { lines: ["hi"], size: 0 }, instanceId: expect.any(String), version });
  expect(migrate).toHaveBeenCalledWith({ text: "hi" }, 1);
  expect(handle.peek()?.state).toEqual({ lines: ["hi"], size: 0 });
  expect(await handle.when((state) => state.lines[0])).toBe("hi");
  expect(await stored(connector)).toEqual(before);
});

test("stores 30: the next commit writes the migrated state, and counts as a change of everything", async () => {
  const connector = openProbedDatabase().connect();
  const stores = createStores(connector);
  await stores.store(One, "x").update((draft) => void (draft.text = "hi"));
  const updated = await stores.store(Two, "x").update((draft) => void (draft.size = 1));
  expect(updated).toEqual({ state: { lines: ["hi"], size: 1 }, previousVersion: 1, version: 2 });
  expect(await stored(connector)).toMatchObject({ definitionVersion: 2, state: '{"lines":["hi"],"size":1}' });
  expect(await connector.readChanges({ after: 1, limit: 5 })).toMatchObject({ changes: [{ changedPaths: "[[]]" }] });
  migrate.mockClear();
  const again = await stores.store(Two, "x").update((draft) => void (draft.size = 2));
  expect(again.version).toBe(3);
  expect(migrate).not.toHaveBeenCalled();
  expect(await connector.readChanges({ after: 2, limit: 5 })).toMatchObject({
    changes: [{ changedPaths: '[["size"]]' }],
  });
});

test("stores 30: an asynchronous schema judges a migrated state, too", async () => {
  const stores = createStores(openProbedDatabase().connect());
  await stores.store(One, "x").update((draft) => void (draft.text = "hi"));
  const Slow = defineStore("note", z.object({ text: z.string().refine(async (text) => text !== "") }), {
    version: 3,
    initial: () => ({ text: "new" }),
    migrate: (state) => state,
  });
  expect((await stores.store(Slow, "x").get()).state).toEqual({ text: "hi" });
  expect((await stores.store(Slow, "x").update((draft) => void (draft.text += "!"))).state).toEqual({ text: "hi!" });
});

test("stores 30: without a `migrate`, or with one that fails, the error names the store and the row stays", async () => {
  const connector = openProbedDatabase().connect();
  const stores = createStores(connector);
  await stores.store(One, "x").update((draft) => void (draft.text = "hi"));
  const before = await stored(connector);
  const boom = new Error("boom");
  const options = { version: 2, initial: () => ({ lines: [], size: 0 }) };
  const definitions = [
    defineStore("note", twoSchema, options),
    defineStore("note", twoSchema, { ...options, migrate: () => ({ lines: "no list" }) }),
    defineStore("note", twoSchema, { ...options, migrate: async () => ({ lines: [] }) }),
    defineStore("note", z.any(), { version: 2, initial: () => null, migrate: () => new Date(0) }),
    defineStore("note", twoSchema, {
      ...options,
      migrate: () => {
        throw boom;
      },
    }),
  ];
  for (const definition of definitions) {
    const handle = stores.store(definition, "x");
    const client = new CasStoreClient(connector);
    const attempts = [
      handle.get(),
      handle.update(() => undefined),
      handle.when(() => true),
      handle.take(
        () => true,
        () => undefined,
      ),
      client.takeFromStore({ definition, id: "x", selector: () => true, claim: () => undefined }),
    ];
    for (const attempt of attempts) {
      const error: unknown = await attempt.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(MigrationFailedError);
      expect((error as Error).message).toContain('"note"');
    }
  }
  const causes = await Promise.all(
    definitions.map(async (definition) => {
      const error = await failure(stores.store(definition, "x").get());
      return error instanceof Error ? error.cause : error;
    }),
  );
  expect(causes.at(-1)).toBe(boom);
  expect(await stored(connector)).toEqual(before);
});

test("stores 31: a newer state is neither read into older code nor overwritten nor deleted, and the app is told once", async () => {
  const database = openProbedDatabase();
  const connector = database.connect();
  const newer = createStores(database.connect());
  const { instanceId, version } = await newer.store(Two, "x").get();
  const before = await stored(connector);
  const stores = createStores(connector);
  const outdated = vi.fn<() => void>();
  stores.on("outdated", outdated);
  const waiting = createStores(database.connect());
  const outdatedToo = vi.fn<() => void>();
  waiting.on("outdated", outdatedToo);
  await expect(waiting.store(One, "x").when(() => true)).rejects.toThrow(DefinitionOutdatedError);
  expect(outdatedToo).toHaveBeenCalledTimes(1);
  const client = new CasStoreClient(database.connect());
  const handle = stores.store(One, "x");
  const seen = vi.fn<() => void>();
  const errors: unknown[] = [];
  const stop = handle.watch((state) => state.text, seen, { onError: (error) => errors.push(error) });
  const snapshot = { instanceId, version };
  const callback = vi.fn<() => void>();
  const attempts = [
    handle.get(),
    handle.update(callback),
    handle.updateFrom(snapshot, callback),
    handle.deleteFrom(snapshot),
    handle.when(callback),
    handle.take(callback, callback),
    stores.delete(One, "x"),
    stores.transact({ handle, other: stores.store(One, "y") }, callback),
    client.takeFromStore({ definition: One, id: "x", selector: callback, claim: callback }),
  ];
  for (const attempt of attempts) {
    const error: unknown = await attempt.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DefinitionOutdatedError);
    expect((error as Error).message).toMatch(/reload/);
  }
  await vi.waitFor(() => expect(errors[0]).toBeInstanceOf(DefinitionOutdatedError));
  expect(callback).not.toHaveBeenCalled();
  expect(seen).not.toHaveBeenCalled();
  expect(outdated).toHaveBeenCalledTimes(1);
  expect(await stored(connector)).toEqual(before);
  expect(await stores.list(One)).toEqual(["x"]);
  stop();
});

test("stores 31: a row that a newer tab writes while an older one has it cached is refused by the commit", async () => {
  const database = openProbedDatabase();
  database.filterEvents(() => false);
  const older = createStores(database.connect());
  await older.store(One, "x").update((draft) => void (draft.text = "hi"));
  await createStores(database.connect())
    .store(Two, "x")
    .update((draft) => void draft.lines.push("new"));
  await expect(older.store(One, "x").update((draft) => void (draft.text = "old"))).rejects.toThrow(
    DefinitionOutdatedError,
  );
  const snapshot = await createStores(database.connect()).store(Two, "x").get();
  expect(snapshot.state.lines).toEqual(["hi", "new"]);
});

test("stores 30: a definition is checked when it is made", () => {
  const schema = z.object({ text: z.string() });
  const initial = (): { text: string } => ({ text: "" });
  const bad: (() => unknown)[] = [
    () => defineStore("", schema, { initial }),
    () => defineStore("n".repeat(1025), schema, { initial }),
    () => defineStore("half \ud800", schema, { initial }),
    () => defineStore("note", undefined as unknown as typeof schema, { initial }),
    () => defineStore("note", {} as typeof schema, { initial }),
    () => defineStore("note", schema, {} as { initial: typeof initial }),
    () => defineStore("note", schema, undefined as unknown as { initial: typeof initial }),
    () => defineStore("note", schema, { initial, version: 0 }),
    () => defineStore("note", schema, { initial, version: 1.5 }),
    () => defineStore("note", schema, { initial, migrate: "no" as unknown as () => unknown }),
  ];
  for (const make of bad) expect(make).toThrow(InvalidArgumentError);
});
