/** The page of the benchmark: offers the contenders to scripts/bench.mjs, which decides what runs when. */
import type { Contender, Measurement, Workload } from "./contender.js";
import { DexieContender } from "./dexie-contender.js";
import { type BenchDocument, makeDocuments } from "./document.js";
import { SqliteContender } from "./sqlite-contender.js";
import { WakefulContender } from "./wakeful-contender.js";

/** Each in a database of its own. The keys are the rows of the table that scripts/bench.mjs prints. */
const contenders: Readonly<Record<string, Contender>> = {
  "wakeful strict": new WakefulContender("strict", { durability: "strict", stepIds: false }),
  "wakeful strict, step ids": new WakefulContender("steps", { durability: "strict", stepIds: true }),
  "wakeful strict, from a second tab": new WakefulContender("shared", { durability: "strict", stepIds: false }),
  "wakeful relaxed": new WakefulContender("relaxed", { durability: "relaxed", stepIds: false }),
  "Dexie strict": new DexieContender("dexie", { durability: "strict", recordCalls: false }),
  "Dexie strict, calls recorded": new DexieContender("dexie-calls", { durability: "strict", recordCalls: true }),
  "Dexie relaxed": new DexieContender("dexie-relaxed", { durability: "relaxed", recordCalls: false }),
  "SQLite alone, in its worker": new SqliteContender("raw"),
};

function contender(name: string): Contender {
  const found = contenders[name];
  if (found === undefined) throw new Error(`There is no contender "${name}"`);
  return found;
}

const bench = {
  names: Object.keys(contenders),
  /** Opens these contenders. Answers the bytes of JSON of each document. */
  async open(names: readonly string[], events: readonly BenchDocument["event"][]): Promise<number[]> {
    const documents = makeDocuments(events);
    for (const name of names) await contender(name).open(documents);
    return documents.map((document) => new TextEncoder().encode(JSON.stringify(document)).length);
  },
  measure: (name: string, workload: Workload, milliseconds: number): Promise<Measurement> =>
    contender(name).measure(workload, milliseconds),
  revisions: (name: string): Promise<number> => contender(name).revisions(),
};

declare global {
  interface Window {
    bench: typeof bench;
  }
}

window.bench = bench;
