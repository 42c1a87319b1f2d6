/** One tab under load: it begins by itself, also after a reload, and writes down outside of the browser what it does. */
import { AbortedError, ClosedError, openStores, type Stores, WakefulError } from "../../../src/index.js";
import {
  type Begin,
  type CountState,
  type Entry,
  type Operation,
  type Outcome,
  type QueueState,
  unitOf,
  type Woken,
} from "../entries.js";
import { type Random, randomFrom } from "../random.js";
import { Count, perform, Queue } from "./operations.js";

/** Kept by the run, whatever becomes of this page. */
declare const record: (entry: Entry) => Promise<void>;
/** The next number for a tab, and what it is to do. */
declare const enlist: () => Promise<Enlisted>;

export interface Enlisted {
  readonly tab: string;
  readonly seed: number;
  readonly name: string;
  /** How many calls are under way at a time; 0: this tab only reads what became of the others. */
  readonly loops: number;
  readonly mostlyReads: boolean;
}

const COUNTERS = ["a", "b", "c"];
const QUEUES = ["q1", "q2"];
const WRITER = { increment: 8, read: 5, put: 4, take: 3, transfer: 4, scratch: 1, delete: 0.3, wait: 2, sleep: 2 };
/** A tab that hardly commits learns of commits by events alone. */
const READER: typeof WRITER = {
  ...WRITER,
  increment: 0.3,
  read: 20,
  put: 0,
  take: 1,
  transfer: 0,
  scratch: 0,
  delete: 0,
};
/** Milliseconds without a wake after which none is left. */
const QUIET = 2000;

let stores: Stores;
let enlisted: Enlisted;
let epoch = 0;
let call = 0;
let load = { running: false };
/** Aborted when the load ends: waits need not be waited for. */
let ending = new AbortController();
let loops: Promise<unknown> = Promise.resolve();

const later = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function open(): Promise<void> {
  stores = await openStores({ name: enlisted.name, ownerTimeout: 30_000, changesLimit: 1_000_000 });
  stores.on("owner", (owner) => {
    epoch = owner.epoch;
    void record({ type: "owner", tab: enlisted.tab, epoch, databaseId: owner.databaseId });
  });
}

function nextOperation(random: Random): Operation {
  const counter = random.pick(COUNTERS);
  switch (random.weighted(enlisted.mostlyReads ? READER : WRITER)) {
    case "increment":
      return { kind: "increment", store: counter };
    case "read":
      return { kind: "read", store: counter };
    case "put":
      return { kind: "put", store: random.pick(QUEUES), item: `${enlisted.tab}-${call + 1}` };
    case "take":
      return { kind: "take", store: random.pick(QUEUES) };
    case "transfer": {
      const [store, to] = random.next() < 0.5 ? (["left", "right"] as const) : (["right", "left"] as const);
      return { kind: "transfer", store, to, amount: random.between(1, 9) };
    }
    case "scratch":
      return { kind: "increment", store: "scratch" };
    case "delete":
      return { kind: "delete", store: "scratch" };
    case "sleep":
      return { kind: "sleep", store: counter };
    case "wait": {
      const known = stores.store(Count, counter).peek()?.state.count ?? 0;
      return { kind: "wait", store: counter, count: known + random.between(1, 5) };
    }
  }
}

/** Writes it down before anything is sent: what a tab does before it dies must be known. */
async function writeDown(entry: Begin | Woken): Promise<void> {
  // A page that is put away may lose the answer, not the message: it is sent again, which changes nothing.
  while ((await Promise.race([record(entry).then(() => "kept"), later(1000)])) !== "kept");
}

/** Delivers wakes until `signal` aborts. `delivered` is called after each. */
async function deliverWakes(client: Stores, signal: AbortSignal, delivered = (): void => undefined): Promise<void> {
  try {
    for await (const wake of client.wakes({ signal })) {
      await writeDown({ type: "woken", executionId: wake.executionId });
      // It has slept enough; otherwise each change of its store would wake it again.
      await client.forgetExecution(wake.executionId);
      await wake.acknowledge();
      delivered();
    }
  } catch (error) {
    if (error instanceof AbortedError || error instanceof ClosedError) return;
    throw error;
  }
}

/** Delivers what is left, until nothing has come for a while. */
async function deliverLeftWakes(): Promise<void> {
  const quiet = new AbortController();
  let timer = setTimeout(() => quiet.abort(), QUIET);
  await deliverWakes(stores, quiet.signal, () => {
    clearTimeout(timer);
    timer = setTimeout(() => quiet.abort(), QUIET);
  });
}

async function make(operation: Operation, step: string | null): Promise<Outcome> {
  const number = ++call;
  const { tab } = enlisted;
  const client = stores;
  const begin: Begin = { type: "begin", tab, call: number, session: client.session, step, operation, at: Date.now() };
  await writeDown(begin);
  const outcome = await perform(client, operation, unitOf(begin), step, ending.signal).catch(
    (error: unknown): Outcome => {
      const code = error instanceof WakefulError ? error.code : "unexpected";
      return { kind: "failed", code, message: String(error) };
    },
  );
  void record({ type: "end", tab, call: number, epoch, outcome, at: Date.now() });
  return outcome;
}

async function keepCalling(random: Random, own: { readonly running: boolean }): Promise<void> {
  const isRepeatable = new Set<Operation["kind"]>(["increment", "put", "take", "transfer"]);
  while (own.running) {
    const operation = nextOperation(random);
    const withStep = isRepeatable.has(operation.kind) && operation.store !== "scratch" && random.next() < 0.4;
    await make(operation, withStep ? `step-${enlisted.tab}-${call + 1}` : null);
    await later(random.between(5, 30));
  }
}

const chaos = {
  /** Ends the load. Resolves when every call has ended, with the name of this tab. */
  async stop(): Promise<string> {
    load.running = false;
    ending.abort();
    await loops;
    return enlisted.tab;
  },
  /** Closes the stores under the calls, as an app does, and opens them again. */
  async reopen(): Promise<void> {
    load.running = false;
    await stores.close();
    await loops;
    await open();
    start();
  },
  /** Makes calls again that have a step id and whose tab died. */
  async repeat(begins: readonly Begin[]): Promise<void> {
    const repeated = Promise.all(begins.map(({ operation, step }) => make(operation, step)));
    // What was taken is known at once; a take that found nothing before its tab died need not find anything now.
    await Promise.race([repeated, later(3000)]);
    ending.abort();
    await repeated;
  },
  async finals(): Promise<{ counts: Record<string, CountState>; queues: Record<string, QueueState> }> {
    await deliverLeftWakes();
    const counts: Record<string, CountState> = {};
    for (const id of await stores.list(Count)) counts[id] = (await stores.store(Count, id).get()).state;
    const queues: Record<string, QueueState> = {};
    for (const id of await stores.list(Queue)) queues[id] = (await stores.store(Queue, id).get()).state;
    return { counts, queues };
  },
};

function start(): void {
  load = { running: true };
  ending = new AbortController();
  const seeds = Array.from({ length: enlisted.loops }, (_, loop) => enlisted.seed + loop * 7919 + call);
  const calling = seeds.map((seed) => keepCalling(randomFrom(seed), load));
  if (enlisted.loops > 0) calling.push(deliverWakes(stores, ending.signal));
  loops = Promise.all(calling);
}

declare global {
  interface Window {
    chaos: typeof chaos;
  }
}

enlisted = await enlist();
await open();
start();
window.chaos = chaos;
document.documentElement.dataset["ready"] = "true";
