/** The database on real OPFS: its modes, opening against a dying owner, and what a kill in mid-commit leaves. */
import { afterEach, expect, test } from "vitest";
import { fromWire } from "../../src/protocol/errors.js";
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
  commitPast(count: number, stateBytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#worker.addEventListener("message", ({ data }: MessageEvent<DatabaseReply>) => {
        if (data.type !== "acknowledged") return;
        this.acknowledged.push({ storeId: data.storeId, sequence: data.sequence });
        if (this.acknowledged.length === count) resolve();
      });
      this.#worker.postMessage({ type: "commit-for-ever", stateBytes } satisfies DatabaseCommand);
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
