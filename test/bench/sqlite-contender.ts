/** The page's side of sqlite-worker.ts: one command at a time. */
import type { Contender, Measurement, Workload } from "./contender.js";
import type { BenchDocument } from "./document.js";
import type { SqliteCommand, SqliteReply } from "./sqlite-worker.js";

export class SqliteContender implements Contender {
  readonly #name: string;
  readonly #worker: Worker = new Worker(new URL("./sqlite-worker.ts", import.meta.url), { type: "module" });

  constructor(name: string) {
    this.#name = name;
  }

  async open(documents: readonly BenchDocument[]): Promise<void> {
    await this.#ask({ type: "open", name: this.#name, documents });
  }

  async measure(workload: Workload, milliseconds: number): Promise<Measurement> {
    return (await this.#ask({ type: "measure", workload, milliseconds })) as Measurement;
  }

  async revisions(): Promise<number> {
    return Number(await this.#ask({ type: "revisions" }));
  }

  #ask(command: SqliteCommand): Promise<unknown> {
    const answered = new AbortController();
    return new Promise((resolve, reject) => {
      const { signal } = answered;
      this.#worker.addEventListener("error", ({ message }) => reject(new Error(`The worker failed: ${message}`)), {
        signal,
      });
      this.#worker.addEventListener(
        "message",
        ({ data }: MessageEvent<SqliteReply>) =>
          "error" in data ? reject(new Error(data.error)) : resolve(data.value),
        { signal },
      );
      this.#worker.postMessage(command);
    }).finally(() => answered.abort());
  }
}
