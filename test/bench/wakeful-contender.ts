/** wakeful as an app uses it: `update` of a handle. */
import { defineStore, openStores, type StoreDefinition, type StoreHandle, type Stores } from "wakeful";
import { type Contender, drive, type Measurement, type Workload } from "./contender.js";
import { type BenchDocument, documentSchema } from "./document.js";

export interface WakefulOptions {
  readonly durability: "strict" | "relaxed";
  /** Each call carries a step id, so that repeating it is safe: its result is recorded in the same transaction. */
  readonly stepIds: boolean;
}

export class WakefulContender implements Contender {
  readonly #name: string;
  readonly #options: WakefulOptions;
  #stores: Stores | undefined;
  #handles: StoreHandle<BenchDocument>[] = [];
  #executions = 0;

  constructor(name: string, options: WakefulOptions) {
    this.#name = name;
    this.#options = options;
  }

  async open(documents: readonly BenchDocument[]): Promise<void> {
    const { durability } = this.#options;
    this.#stores = await openStores({ name: this.#name, durability });
    const definition: StoreDefinition<BenchDocument> = defineStore("document", documentSchema, {
      initial: (id) => {
        const document = documents[Number(id)];
        if (document === undefined) throw new Error(`There is no document ${id}`);
        return document;
      },
    });
    this.#handles = documents.map((_, index) => this.#opened.store(definition, String(index)));
    // Version 0 of each; the first `get` creates it.
    await Promise.all(this.#handles.map((handle) => handle.get()));
  }

  async measure(workload: Workload, milliseconds: number): Promise<Measurement> {
    const executionId = `execution ${++this.#executions}`;
    let step = 0;
    const measurement = await drive(workload, milliseconds, (index) =>
      this.#handle(index).update(
        (draft) => {
          draft.review.revision += 1;
        },
        this.#options.stepIds ? { stepId: { executionId, stepKey: `step ${++step}` } } : {},
      ),
    );
    if (this.#options.stepIds) await this.#opened.forgetExecution(executionId);
    return measurement;
  }

  async revisions(): Promise<number> {
    const snapshots = await Promise.all(this.#handles.map((handle) => handle.get()));
    return snapshots.reduce((sum, { state }) => sum + state.review.revision, 0);
  }

  get #opened(): Stores {
    if (this.#stores === undefined) throw new Error("This contender was not opened");
    return this.#stores;
  }

  #handle(index: number): StoreHandle<BenchDocument> {
    const handle = this.#handles[index];
    if (handle === undefined) throw new Error(`There is no document ${index}`);
    return handle;
  }
}
