/** Exports, imports and integrity checks on real OPFS, through openStores. */
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { defineStore, openStores, type Stores, type TransferProgress } from "../../src/index.js";
import { newName } from "./database-client.js";

const Note = defineStore("note", z.object({ text: z.string() }), { initial: () => ({ text: "" }) });

const open = new Set<Stores>();

afterEach(async () => {
  for (const stores of open) await stores.close();
  open.clear();
});

async function openNew(): Promise<Stores> {
  const stores = await openStores({ name: newName() });
  open.add(stores);
  return stores;
}

const write = (stores: Stores, id: string, text: string): Promise<unknown> =>
  stores.store(Note, id).update((draft) => {
    draft.text = text;
  });
const read = async (stores: Stores, id: string): Promise<string> => (await stores.store(Note, id).get()).state.text;
const fileOf = (stores: Stores): Promise<Blob> => new Response(stores.export()).blob();

test("tabs 19: an export is a SQLite file with everything that was committed before it, and reports its progress", async () => {
  const stores = await openNew();
  for (let n = 0; n < 40; n++) await write(stores, `note ${n}`, "x".repeat(20_000));
  const progress: TransferProgress[] = [];
  const file = await new Response(stores.export({ onProgress: (each) => progress.push(each) })).blob();
  expect(await file.slice(0, 15).text()).toBe("SQLite format 3");
  // Without a log beside it: any SQLite opens it.
  expect(new Uint8Array(await file.slice(18, 20).arrayBuffer())).toEqual(new Uint8Array([1, 1]));
  expect(progress.length).toBeGreaterThan(2);
  expect(progress.at(-1)).toMatchObject({ stage: "reading", done: file.size, total: file.size, sequence: 40 });

  const other = await openNew();
  await other.import(file);
  expect(await other.list(Note)).toHaveLength(40);
  expect(await read(other, "note 39")).toBe("x".repeat(20_000));
});

test("tabs 19: an import replaces everything, and waits, watches and feeds of before see it", async () => {
  const source = await openNew();
  await write(source, "a", "imported");
  await write(source, "only there", "imported");
  const file = await fileOf(source);

  const stores = await openNew();
  await write(stores, "a", "old");
  await write(stores, "only here", "old");
  const seen: string[] = [];
  stores.store(Note, "a").watch(
    (state) => state.text,
    (text) => seen.push(text),
  );
  const waiting = stores.store(Note, "only there").when((state) => state.text === "imported");
  const feed = stores.changes({ after: 2 });
  const next = feed.next().catch((error: unknown) => error);
  const before = await stores.store(Note, "a").get();

  await stores.import(file);
  expect(await waiting).toBe(true);
  await expect.poll(() => seen.at(-1)).toBe("imported");
  expect(await stores.list(Note)).toEqual(["a", "only there"]);
  expect(await next).toMatchObject({ code: "changes-trimmed" });
  expect(await stores.store(Note, "a").updateFrom(before, () => ({ text: "lost" }))).toMatchObject({ updated: false });
  await write(stores, "a", "after");
  expect(await read(stores, "a")).toBe("after");
});

test("tabs 19: the sequence goes on ascending over an import, with a gap that followers notice", async () => {
  const source = await openNew();
  await write(source, "a", "imported");
  const file = await fileOf(source);
  const stores = await openNew();
  for (let n = 0; n < 3; n++) await write(stores, "b", `${n}`);
  await stores.import(file);
  const old = stores.changes({ after: 3 }).next();
  await expect(old).rejects.toMatchObject({ code: "changes-trimmed", oldest: 5 });
  await write(stores, "c", "next");
  const { value } = await stores.changes({ after: 5 }).next();
  expect(value).toMatchObject({ sequence: 6, storeId: "c" });
});

const wrong: Readonly<Record<string, (file: Blob) => Blob>> = {
  "an empty file": () => new Blob([]),
  garbage: () => new Blob(["no database at all ".repeat(1000)]),
  "half of an export": (file) => file.slice(0, file.size / 2),
  "an export with zeros in its middle": (file) =>
    new Blob([file.slice(0, 16_384), new Uint8Array(32_768), file.slice(16_384 + 32_768)]),
};

for (const [what, spoil] of Object.entries(wrong)) {
  test(`tabs 19: ${what} is refused with a typed error and changes nothing`, async () => {
    const source = await openNew();
    for (let n = 0; n < 20; n++) await write(source, `note ${n}`, "x".repeat(20_000));
    const file = await fileOf(source);
    const stores = await openNew();
    await write(stores, "a", "kept");
    await expect(stores.import(spoil(file))).rejects.toMatchObject({ code: "import-refused" });
    expect(await stores.list(Note)).toEqual(["a"]);
    expect(await read(stores, "a")).toBe("kept");
    // Nothing is left over: a good one is taken afterwards.
    await stores.import(file.stream());
    expect(await stores.list(Note)).toHaveLength(20);
  });
}

test("tabs 19: an export that is cancelled or aborted lets the next one begin", async () => {
  const stores = await openNew();
  await write(stores, "a", "x".repeat(600_000));
  const reader = stores.export().getReader();
  await reader.read();
  await reader.cancel();
  const abort = new AbortController();
  const aborted = stores.export({ signal: abort.signal }).getReader();
  await aborted.read();
  abort.abort();
  await expect(aborted.read()).rejects.toMatchObject({ code: "aborted" });
  expect((await fileOf(stores)).size).toBeGreaterThan(600_000);
});

test("tabs 19: two exports at once run one after the other", async () => {
  const stores = await openNew();
  await write(stores, "a", "x".repeat(600_000));
  const [first, second] = await Promise.all([fileOf(stores), fileOf(stores)]);
  expect(first?.size).toBe(second?.size);
});

test("tabs 18: an integrity check of a whole database says so, part by part", async () => {
  const stores = await openNew();
  await write(stores, "a", "b");
  const progress: { done: number; total: number }[] = [];
  expect(await stores.checkIntegrity({ onProgress: (each) => progress.push(each) })).toEqual({ status: "whole" });
  expect(progress.length).toBeGreaterThan(5);
  expect(progress.at(-1)?.done).toBe(progress.at(-1)?.total);
});
