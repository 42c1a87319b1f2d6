/** Databases in workers of their own, as the tests of the database drive them. */
import { fromWire } from "../../src/protocol/errors.js";
import type { DatabaseCommand, DatabaseReply } from "./database-worker.js";

export interface OpenedDatabase {
  readonly openedIn: number;
  readonly journalMode: string;
  readonly durability: string;
  readonly epoch: number;
  readonly databaseId: string;
  readonly head: number;
}

/** A worker that has, or had, the database. */
export class DatabaseWorker {
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

/** A new worker; `terminateAll` ends it if nobody did before. */
export function spawn(): DatabaseWorker {
  const worker = new DatabaseWorker();
  workers.push(worker);
  return worker;
}

export function terminateAll(): void {
  for (const worker of workers.splice(0)) worker.terminate();
}

export const newName = (): string => `database test ${crypto.randomUUID()}`;

/** What is wrong with the database: damage, acknowledged commits that are missing, a feed that does not match. */
export async function faultsOf(worker: DatabaseWorker, acknowledged: ReadonlySet<string>): Promise<string[]> {
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
