/** The database on real OPFS: its modes, opening against a dying owner, and what a kill in mid-commit leaves. */
import { afterEach, expect, test, vi } from "vitest";
import { cdp, server } from "vitest/browser";
import { fromWire, type WireError } from "../../src/protocol/errors.js";
import { poolDirectory } from "../../worker/opfs-pool.js";
import type { DatabaseCommand, DatabaseReply } from "./database-worker.js";

interface OpenedDatabase {
  readonly openedIn: number;
  readonly journalMode: string;
  readonly durability: string;
  readonly epoch: number;
  readonly databaseId: string;
  readonly head: number;
}

/** A worker that has, or had, the database. */
class DatabaseWorker {
  readonly #worker = new Worker(new URL("./database-worker.js", import.meta.url), { type: "module" });
  readonly acknowledged: { storeId: string; sequence: number }[] = [];

  run<T>(command: DatabaseCommand): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = ({ data }: MessageEvent<DatabaseReply>): void => {
        if (data.type === "acknowledged") return;
        this.#worker.removeEventListener("message", settle);
        if (data.type === "done") resolve(data.value as T);
        else reject(fromWire(data.error));
      };
      this.#worker.addEventListener("message", settle);
      this.#worker.addEventListener("error", (event) => reject(new Error(event.message)));
      this.#worker.postMessage(command);
    });
  }

  open(name: string, more: Partial<Extract<DatabaseCommand, { type: "open" }>> = {}): Promise<OpenedDatabase> {
    return this.run({ type: "open", name, ...more });
  }

  select<Row>(sql: string): Promise<Row[]> {
    return this.run({ type: "select", sql });
  }

  /** Commits without end; resolves once `count` commits were acknowledged. */
  commitPast(count: number, { stateBytes, busy }: { stateBytes: number; busy: boolean }): Promise<void> {
    return new Promise((resolve) => {
      this.#worker.addEventListener("message", ({ data }: MessageEvent<DatabaseReply>) => {
        if (data.type !== "acknowledged") return;
        this.acknowledged.push({ storeId: data.storeId, sequence: data.sequence });
        if (this.acknowledged.length === count) resolve();
      });
      this.#worker.postMessage({ type: "commit-for-ever", stateBytes, busy } satisfies DatabaseCommand);
    });
  }

  terminate(): void {
    this.#worker.terminate();
  }
}

const workers: DatabaseWorker[] = [];

function spawn(): DatabaseWorker {
  const worker = new DatabaseWorker();
  workers.push(worker);
  return worker;
}

afterEach(() => {
  for (const worker of workers.splice(0)) worker.terminate();
});

const newName = (): string => `database test ${crypto.randomUUID()}`;

test("tabs 2: the database opens with EXCLUSIVE, WAL and FULL, and NORMAL when relaxed", async () => {
  const worker = spawn();
  const opened = await worker.open(newName());
  expect(opened).toMatchObject({ journalMode: "wal", durability: "strict", epoch: 1, head: 0 });
  const found: Record<string, unknown> = {};
  for (const pragma of [
    "locking_mode",
    "journal_mode",
    "synchronous",
    "page_size",
    "temp_store",
    "wal_autocheckpoint",
  ]) {
    const [row] = await worker.select<object>(`PRAGMA ${pragma}`);
    found[pragma] = Object.values(row ?? {})[0];
  }
  expect(found).toEqual({
    locking_mode: "exclusive",
    journal_mode: "wal",
    synchronous: 2,
    page_size: 8192,
    temp_store: 2,
    wal_autocheckpoint: 1000,
  });

  await worker.run({ type: "durability", durability: "relaxed" });
  expect(await worker.select("PRAGMA synchronous")).toEqual([{ synchronous: 1 }]);
  await worker.run({ type: "durability", durability: "strict" });
  expect(await worker.select("PRAGMA synchronous")).toEqual([{ synchronous: 2 }]);
});

test("tabs 5: what was committed is there for the next owner, whose epoch is the next", async () => {
  const name = newName();
  const first = spawn();
  const opened = await first.open(name);
  await first.run({ type: "measure", count: 3, stateBytes: 10 });
  await first.run({ type: "close" });
  first.terminate();

  const second = await spawn().open(name);
  expect(second).toMatchObject({ epoch: 2, head: 3, databaseId: opened.databaseId });
});

test("a worker that closed the database can open it again", async () => {
  const name = newName();
  const worker = spawn();
  await worker.open(name);
  await worker.run({ type: "measure", count: 2, stateBytes: 10 });
  await worker.run({ type: "close" });
  expect(await worker.open(name, { lock: false })).toMatchObject({ epoch: 2, head: 2 });
});

test("a worker killed in mid-commit loses no acknowledged commit and leaves no damage", async () => {
  const name = newName();
  const acknowledged = new Set<string>();
  const handOvers: number[] = [];
  for (let kill = 1; kill <= 3; kill++) {
    const victim = spawn();
    await victim.open(name);
    await victim.commitPast(20 * kill, { stateBytes: 3000 * kill, busy: true });
    victim.terminate();
    const killed = performance.now();

    const heir = spawn();
    await heir.open(name);
    handOvers.push(Math.round(performance.now() - killed));
    for (const { storeId } of victim.acknowledged) acknowledged.add(storeId);
    expect(await faultsOf(heir, acknowledged)).toEqual([]);
    heir.terminate();
  }
  console.info(`hand-over from a killed busy worker, ms: ${handOvers.join(", ")}`);
}, 60_000);

test("20 races of opening against a dying owner never wipe the database", async () => {
  const name = newName();
  const acknowledged = new Set<string>();
  let owner = spawn();
  const { databaseId } = await owner.open(name, { lock: false });
  const openings: number[] = [];
  for (let race = 1; race <= 20; race++) {
    const next = spawn();
    await next.run({ type: "load" });
    await owner.commitPast(3, { stateBytes: 500, busy: false });
    // No lock: the next one opens while the files are still held, as a lock that is freed too early would have it.
    const opening = next.open(name, { lock: false });
    owner.terminate();
    const opened = await opening;
    expect(opened).toMatchObject({ databaseId, epoch: race + 1 });
    openings.push(Math.round(opened.openedIn));
    for (const { storeId } of owner.acknowledged) acknowledged.add(storeId);
    expect(await faultsOf(next, acknowledged)).toEqual([]);
    owner = next;
  }
  console.info(`opening against a dying owner, ms: ${openings.join(", ")}`);
}, 60_000);

test("a database that another worker holds is busy, and is left as it is", async () => {
  const name = newName();
  const holder = spawn();
  const { databaseId } = await holder.open(name);
  await holder.run({ type: "measure", count: 3, stateBytes: 100 });
  await expect(spawn().open(name, { lock: false })).rejects.toMatchObject({
    code: "storage-unavailable",
    reason: "busy",
  });
  await holder.run({ type: "measure", count: 3, stateBytes: 100 });
  holder.terminate();
  expect(await spawn().open(name)).toMatchObject({ databaseId, epoch: 2, head: 6 });
});

test("tabs 18: a file whose header is damaged is refused, not emptied, and opens again once it is mended", async () => {
  const name = newName();
  const { databaseId } = await fill(name);
  const [database] = await poolFiles(name, isDatabase);
  if (database === undefined) throw new Error("The pool has no file that is a database.");
  await patch(database, 3, "X");
  const damaged = await bytesOf(database);

  const refused = spawn();
  await expect(refused.open(name)).rejects.toMatchObject({ code: "storage-damaged" });
  refused.terminate();
  expect(await bytesOf(database)).toEqual(damaged);

  await patch(database, 3, "o"); // The path in it is /stores.db.
  expect(await spawn().open(name)).toMatchObject({ databaseId, head: 3 });
});

test("tabs 18: a file that is no database any more is refused and left as it is", async () => {
  const name = newName();
  await fill(name);
  const [database] = await poolFiles(name, isDatabase);
  if (database === undefined) throw new Error("The pool has no file that is a database.");
  await patch(database, 4096, "this is no database");
  const damaged = await bytesOf(database);

  await expect(spawn().open(name)).rejects.toMatchObject({ code: "storage-damaged" });
  expect(await bytesOf(database)).toEqual(damaged);
});

test("tabs 18: a log without its database is refused: SQLite would delete the log", async () => {
  const name = newName();
  const victim = spawn();
  await victim.open(name);
  await victim.run({ type: "measure", count: 3, stateBytes: 100 });
  victim.terminate();
  // The pool can be read and written from here once the worker is gone; opening it waits for that, and closes nothing.
  const [database] = await poolFiles(name, isDatabase);
  const [log] = await poolFiles(name, isLog);
  if (database === undefined || log === undefined) throw new Error("A killed owner leaves a database and its log.");
  await onceFree(() => truncate(database, 4096));
  const before = await bytesOf(log);

  await expect(spawn().open(name)).rejects.toMatchObject({ code: "storage-damaged" });
  expect(await bytesOf(log)).toEqual(before);
});

test.skipIf(server.browser !== "chromium")(
  "tabs 17: a full disk refuses a commit whole, and commits go on once there is room (only Chromium can set a quota)",
  async () => {
    const name = newName();
    const worker = spawn();
    await worker.open(name);
    const { usage = 0 } = await navigator.storage.estimate();
    const setQuota = (quotaSize?: number): Promise<unknown> =>
      cdp().send("Storage.overrideQuotaForOrigin", {
        origin: location.origin,
        ...(quotaSize === undefined ? {} : { quotaSize }),
      });
    const acknowledged = new Set<string>();
    try {
      await setQuota(usage + 2_000_000);
      for (const stateBytes of [50_000, 1000]) {
        const { storeIds, error } = await worker.run<CommitsUntilFailure>({ type: "commit-until-failure", stateBytes });
        expect(error).toMatchObject({ code: "storage-full" });
        for (const storeId of storeIds) acknowledged.add(storeId);
        expect(await faultsOf(worker, acknowledged)).toEqual([]);
      }
    } finally {
      await setQuota();
    }
    expect(acknowledged.size).toBeGreaterThan(10);
    await worker.run({ type: "measure", count: 3, stateBytes: 50_000 });
    worker.terminate();
    const heir = spawn();
    expect(await heir.open(name)).toMatchObject({ head: acknowledged.size + 3 });
  },
);

interface CommitsUntilFailure {
  readonly storeIds: readonly string[];
  readonly error: WireError | null;
}

/** A database with three commits, closed. */
async function fill(name: string): Promise<OpenedDatabase> {
  const worker = spawn();
  const opened = await worker.open(name);
  await worker.run({ type: "measure", count: 3, stateBytes: 100 });
  await worker.run({ type: "close" });
  worker.terminate();
  return opened;
}

const isDatabase = (content: string): boolean => content.startsWith("SQLite format 3");
const isLog = (content: string): boolean =>
  content.startsWith("7\u007f\u0006\u0082") || content.startsWith("7\u007f\u0006\u0083");

/** The pool's files whose content, which begins behind a header of 4,096 bytes, is as asked. */
async function poolFiles(name: string, matches: (content: string) => boolean): Promise<FileSystemFileHandle[]> {
  let directory = await navigator.storage.getDirectory();
  for (const segment of `${poolDirectory(name)}/.opaque`.split("/")) {
    directory = await directory.getDirectoryHandle(segment);
  }
  const found: FileSystemFileHandle[] = [];
  for await (const entry of directory.values()) {
    if (entry.kind !== "file") continue;
    const content = (await bytesOf(entry)).subarray(4096, 4112);
    if (matches(String.fromCharCode(...content))) found.push(entry);
  }
  return found;
}

async function bytesOf(file: FileSystemFileHandle): Promise<Uint8Array> {
  return new Uint8Array(await (await file.getFile()).arrayBuffer());
}

async function patch(file: FileSystemFileHandle, position: number, text: string): Promise<void> {
  const writable = await file.createWritable({ keepExistingData: true });
  await writable.write({ type: "write", position, data: text });
  await writable.close();
}

async function truncate(file: FileSystemFileHandle, size: number): Promise<void> {
  const writable = await file.createWritable({ keepExistingData: true });
  await writable.truncate(size);
  await writable.close();
}

/** Runs `action` again as long as a dying worker still holds the file. */
async function onceFree(action: () => Promise<void>): Promise<void> {
  await vi.waitFor(action, { timeout: 5000 });
}

/** What is wrong with the database: damage, acknowledged commits that are missing, a feed that does not match. */
async function faultsOf(worker: DatabaseWorker, acknowledged: ReadonlySet<string>): Promise<string[]> {
  const faults: string[] = [];
  const checked = await worker.select<{ integrity_check: string }>("PRAGMA integrity_check");
  for (const { integrity_check } of checked) if (integrity_check !== "ok") faults.push(integrity_check);
  const rows = await worker.select<{ storeId: string }>("SELECT store_id AS storeId FROM stores");
  const present = new Set(rows.map((row) => row.storeId));
  for (const storeId of acknowledged) if (!present.has(storeId)) faults.push(`${storeId} is missing`);
  const [feed] = await worker.select<{ changes: number; head: number }>(
    "SELECT count(*) AS changes, max(sequence) AS head FROM changes",
  );
  if (feed?.changes !== rows.length || feed.head !== rows.length) {
    faults.push(`${rows.length} stores, but the feed has ${JSON.stringify(feed)}`);
  }
  return faults;
}
