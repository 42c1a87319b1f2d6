/** What is measured: something that reads a document, changes it and writes it back. */
import type { BenchDocument } from "./document.js";

/** How many updates a caller keeps in flight, and how many documents they are spread over. */
export interface Workload {
  readonly inFlight: number;
  readonly documents: number;
}

export interface Measurement {
  readonly commits: number;
  readonly milliseconds: number;
}

export interface Contender {
  /** Opens its database and stores the documents. */
  open(documents: readonly BenchDocument[]): Promise<void>;
  /** Updates for about as long as asked, and waits until what is in flight has been acknowledged. */
  measure(workload: Workload, milliseconds: number): Promise<Measurement>;
  /** The sum of all revisions that are stored: as many as there were updates, or one was lost or doubled. */
  revisions(): Promise<number>;
}

/**
 * Keeps `inFlight` updates in flight for `milliseconds`. Each caller goes round the documents by itself, so that with
 * as many documents as callers each has its own.
 *
 * @param update reads the document of that index, adds one to its revision and writes it
 */
export async function drive(
  { inFlight, documents }: Workload,
  milliseconds: number,
  update: (document: number) => Promise<unknown>,
): Promise<Measurement> {
  const started = performance.now();
  let commits = 0;
  const callers = Array.from({ length: inFlight }, async (_, caller) => {
    for (let turn = 0; performance.now() - started < milliseconds; turn++) {
      await update((caller + turn * inFlight) % documents);
      commits += 1;
    }
  });
  await Promise.all(callers);
  return { commits, milliseconds: performance.now() - started };
}
