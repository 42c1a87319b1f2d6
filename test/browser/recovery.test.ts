/** Databases that are damaged on real OPFS: what the app is told, what is kept, what can be read, and beginning afresh. */
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineStore, openStores, type Stores } from "../../src/index.js";
import { DATA_AT } from "../../src/protocol/pool-layout.js";
import type { StorageEvent } from "../../src/protocol/events.js";
import { recoverStores, type Recovery } from "../../src/recovery/index.js";
import { newName, spawn, terminateAll } from "./database-client.js";
import { bytesOf, databaseFolder, isDatabase, onceFree, patch, poolFiles, truncate } from "./pool-files.js";

const Note = defineStore("note", z.object({ text: z.string() }), { initial: () => ({ text: "" }) });
const NOTES = 120;
const PAGE = 8192;

const open = new Set<Stores>();
let recovery: Recovery | undefined;

afterEach(async () => {
  terminateAll();
  recovery?.close();
  for (const stores of open) await stores.close();
  open.clear();
});

async function openHere(name: string): Promise<Stores> {
  const stores = await openStores({ name });
  open.add(stores);
  return stores;
}

/** A database of 200 notes, closed, and its file. */
async function fill(name: string): Promise<FileSystemFileHandle> {
  const stores = await openHere(name);
  const notes = Array.from({ length: NOTES }, (_, n) =>
    stores.store(Note, `note ${n}`).update((draft) => {
      draft.text = `${n} `.repeat(500);
    }),
  );
  await Promise.all(notes);
  await stores.close();
  open.delete(stores);
  const [file] = await poolFiles(name, isDatabase);
  if (file === undefined) throw new Error("The pool has no file that is a database.");
  return file;
}

/** The notes that were read as they were written, of those that were read at all. */
async function readable(from: Recovery): Promise<number> {
  let count = 0;
  for await (const { storeName, storeId, state } of from.stores()) {
    if (storeName !== "note" || state === null) continue;
    const n = Number(storeId.slice(5));
    expect(JSON.parse(state)).toEqual({ text: `${n} `.repeat(500) });
    count += 1;
  }
  return count;
}

interface Damage {
  readonly what: string;
  readonly spoil: (file: FileSystemFileHandle) => Promise<void>;
  /** Notes that can be read all the same, at least. */
  readonly left: number;
}

// Each is found when the database is opened; damage that only a reading meets is further below.
const damages: readonly Damage[] = [
  { what: "the pool's header", spoil: (file) => patch(file, 3, "X"), left: NOTES },
  { what: "the header of the database", spoil: (file) => patch(file, DATA_AT, new Uint8Array(100)), left: NOTES },
  { what: "both headers", spoil: (file) => patch(file, 0, new Uint8Array(DATA_AT + 100)), left: NOTES },
  {
    what: "its end, which was cut off",
    spoil: async (file) => truncate(file, DATA_AT + PAGE * 30 + 100),
    left: 5,
  },
];

describe.each(damages)("damaged is $what", ({ spoil, left }) => {
  test("tabs 18: the app is told, the bytes are kept, what can be read is exported, and the app can begin afresh", async () => {
    const name = newName();
    const file = await fill(name);
    await onceFree(() => spoil(file));
    const damaged = await bytesOf(file);

    await expect(openStores({ name })).rejects.toMatchObject({ code: "storage-damaged" });
    expect(await bytesOf(file)).toEqual(damaged);

    recovery = await recoverStores({ name });
    expect(await readable(recovery)).toBeGreaterThanOrEqual(left);
    const lines = (await new Response(recovery.export()).text()).trim().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ storeName: "note", definitionVersion: 1 });
    const kept = recovery.files.find(({ file: each }) => each.size === damaged.length);
    expect(new Uint8Array((await kept?.file.arrayBuffer()) ?? [])).toEqual(damaged);
    // Looking and exporting changed nothing.
    expect(await bytesOf(file)).toEqual(damaged);

    const folder = await recovery.setAside();
    recovery.close();
    const stores = await openHere(name);
    const told: StorageEvent[] = [];
    stores.on("storage", (event) => told.push(event));
    expect(await stores.list(Note)).toEqual([]);
    await stores.store(Note, "new").update(() => ({ text: "afresh" }));
    // It was given up on purpose: nothing is reported as lost.
    expect(told).toEqual([]);
    await stores.close();

    recovery = await recoverStores({ name, folder });
    const aside = await (await databaseFolder(name)).getDirectoryHandle(folder);
    expect(await bytesOf(await aside.getFileHandle(file.name))).toEqual(damaged);
    expect(recovery.files.some((each) => each.file.size === damaged.length)).toBe(true);
  }, 90_000);
});

/** Damages every second page that holds notes, and answers how many. */
async function spoilHalfOfTheNotes(file: FileSystemFileHandle, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  let seen = 0;
  for (let at = DATA_AT; at < bytes.length; at += PAGE) {
    const isLeaf = bytes[at] === 0x0d;
    if (!isLeaf || !new TextDecoder().decode(bytes.subarray(at, at + PAGE)).includes('{"text":')) continue;
    if (seen++ % 2 === 0) await onceFree(() => patch(file, at, new Uint8Array(PAGE).fill(0x55)));
  }
  return Math.ceil(seen / 2);
}

test("tabs 18: damage in the middle is told to the caller and to the app, spares other stores, and its bytes are kept", async () => {
  const name = newName();
  const file = await fill(name);
  const bytes = await bytesOf(file);
  const spoilt = await spoilHalfOfTheNotes(file, bytes);
  expect(spoilt).toBeGreaterThan(5);

  const stores = await openHere(name);
  const told = new Promise<StorageEvent>((resolve) => {
    stores.on("storage", (event) => {
      if (event.status === "damaged") resolve(event);
    });
  });
  const outcomes = await Promise.all(
    Array.from({ length: NOTES }, (_, n) =>
      stores
        .store(Note, `note ${n}`)
        .get()
        .then(({ state }) => (state.text === `${n} `.repeat(500) ? "read" : "read wrongly"))
        .catch((error: unknown) => (error as { code?: string }).code),
    ),
  );
  expect(new Set(outcomes)).toEqual(new Set(["read", "storage-damaged"]));
  expect((await told).reason).toContain("damaged");
  expect(await stores.checkIntegrity()).toMatchObject({ status: "damaged" });
  await stores.close();

  recovery = await recoverStores({ name });
  const read = outcomes.filter((outcome) => outcome === "read").length;
  expect(await readable(recovery)).toBeGreaterThanOrEqual(read);
});

test("tabs 18: what only the log of a killed owner holds is read as well", async () => {
  const name = newName();
  const victim = spawn();
  await victim.open(name);
  await victim.run({ type: "measure", count: 7, stateBytes: 9000 });
  victim.terminate();
  await onceFree(async () => {
    const [file] = await poolFiles(name, isDatabase);
    if (file === undefined) throw new Error("The pool has no file that is a database.");
    await patch(file, 3, "X");
  });
  recovery = await recoverStores({ name });
  const found = [];
  for await (const store of recovery.stores()) found.push(store);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ storeId: "measured", version: 6 });
  expect(JSON.parse(found[0]?.state ?? "")).toMatchObject({ number: 6 });
});

test("tabs 18: a database that a tab has open is not recovered under its hands", async () => {
  const name = newName();
  const stores = await openHere(name);
  await expect(recoverStores({ name })).rejects.toMatchObject({ code: "storage-unavailable", reason: "busy" });
  await stores.close();
  await expect(recoverStores({ name: `${name} of which there is none` })).rejects.toMatchObject({ reason: "failed" });
});
