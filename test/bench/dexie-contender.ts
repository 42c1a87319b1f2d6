/** Dexie 4 on IndexedDB: one read-write transaction per update. */
import { Dexie, type Table } from "dexie";
import { type Contender, drive, type Measurement, type Workload } from "./contender.js";
import type { BenchDocument } from "./document.js";

type StoredDocument = BenchDocument & { readonly index: number };
interface Call {
  readonly number?: number;
  readonly index: number;
  readonly revision: number;
}

export interface DexieOptions {
  readonly durability: "strict" | "relaxed";
  /** Each transaction also records the call and what it led to, as one must to tell after a crash what was applied. */
  readonly recordCalls: boolean;
}

export class DexieContender implements Contender {
  readonly #database: Dexie;
  readonly #documents: Table<StoredDocument, number>;
  readonly #calls: Table<Call, number>;
  readonly #recordCalls: boolean;

  constructor(name: string, { durability, recordCalls }: DexieOptions) {
    this.#database = new Dexie(name, { chromeTransactionDurability: durability });
    this.#database.version(1).stores({ documents: "index", calls: "++number" });
    this.#documents = this.#database.table("documents");
    this.#calls = this.#database.table("calls");
    this.#recordCalls = recordCalls;
  }

  async open(documents: readonly BenchDocument[]): Promise<void> {
    await this.#database.open();
    await this.#documents.bulkPut(documents.map((document, index) => ({ ...document, index })));
  }

  async measure(workload: Workload, milliseconds: number): Promise<Measurement> {
    const tables = this.#recordCalls ? [this.#documents, this.#calls] : [this.#documents];
    const measurement = await drive(workload, milliseconds, (index) =>
      this.#database.transaction("rw", tables, async () => {
        const document = await this.#documents.get(index);
        if (document === undefined) throw new Error(`There is no document ${index}`);
        document.review.revision += 1;
        await this.#documents.put(document);
        if (this.#recordCalls) await this.#calls.add({ index, revision: document.review.revision });
      }),
    );
    await this.#calls.clear();
    return measurement;
  }

  async revisions(): Promise<number> {
    const documents = await this.#documents.toArray();
    return documents.reduce((sum, { review }) => sum + review.revision, 0);
  }
}
