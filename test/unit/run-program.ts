/** Runs a random program with two clients on one database, in an order that a scheduler decides, and notes all it saw. */
import type { Scheduler } from "fast-check";
import type { Clock } from "../../src/clock.js";
import type { StepId, StoreConnector } from "../../src/protocol/connector.js";
import { OutcomeUnknownError } from "../../src/protocol/errors.js";
import type { ObservedSnapshot, SnapshotReference } from "../../src/store-client.js";
import { createStores, type Stores } from "../../src/stores.js";
import { type ConnectorCall, type Interleaving, openMemoryDatabase } from "../support/memory-connector.js";
import type { MemoryDatabase } from "../support/memory-database.js";
import { a, addressOf, b, Model, performCommand } from "./perform-command.js";
import type { Command, Fault, Program, ProgramStep, StoreName } from "./client-program.js";
import { type ModelState, StoreHistory } from "./store-history.js";

/** When something happened: in the order of all that the program did, and as of which commit. */
export interface Moment {
  readonly tick: number;
  readonly sequence: number;
}

/** One call, from the outside. */
export interface Observation {
  readonly command: Command;
  /** Of this call alone; what it wrote into logs. */
  readonly name: string;
  readonly step: StepId | undefined;
  /** What `update-from` and `delete-from` were given. */
  readonly snapshot: SnapshotReference | undefined;
  /** What the client knew of the command's store once the call was answered. */
  readonly peeked: ObservedSnapshot<ModelState> | undefined;
  readonly invoked: Moment;
  readonly responded: Moment;
  readonly outcome: { readonly value: unknown } | { readonly error: unknown };
}

/** What a watch was shown. */
export interface Sight {
  readonly instanceId: string | null;
  readonly version: number | null;
  readonly state: ModelState;
}

export interface ProgramRun {
  readonly observations: readonly Observation[];
  readonly history: StoreHistory;
  readonly database: MemoryDatabase;
  /** What each client's watch of store `a` was shown, in order. */
  readonly watched: readonly (readonly Sight[])[];
  /** What each client read and then peeked at, at the very end. */
  readonly finally: readonly { readonly read: unknown; readonly peeked: unknown }[];
}

/** Rounds of writing and sweeping after which a wait that has not ended counts as missed. */
const MAX_ROUNDS = 40;

/** `breaks` replaces parts of each connector, to see that the checks notice. */
export async function runProgram(
  program: Program,
  scheduler: Scheduler,
  breaks: (sound: StoreConnector) => Partial<StoreConnector> = () => ({}),
): Promise<ProgramRun> {
  const history = new StoreHistory();
  const timers = manualTimers();
  const trouble = { faults: [...program.faults], losses: [...program.losses] };
  const memory = openMemoryDatabase({
    clock: timers.clock,
    interleaving: interleavingOf(trouble, scheduler, () => history.record(memory.database)),
  });
  const clients = [1, 2].map(() => {
    const sound = memory.connect();
    return createStores({ ...sound, ...breaks(sound) }, { clock: timers.clock, sweepInterval: 1000 });
  });
  const observations: Observation[] = [];
  const waits: Promise<number>[] = [];
  let ended = 0;
  let tick = 0;
  const now = (): Moment => ({ tick: ++tick, sequence: memory.database.sequence });

  async function observe(
    stores: Stores,
    call: Pick<Observation, "command" | "name"> & Partial<Pick<Observation, "step" | "snapshot">>,
    make: () => Promise<unknown>,
  ): Promise<unknown> {
    const invoked = now();
    const outcome = await make().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const responded = now();
    const { command } = call;
    const peeked = "store" in command ? stores.store(Model, command.store).peek() : undefined;
    observations.push({ step: undefined, snapshot: undefined, ...call, peeked, invoked, responded, outcome });
    return "value" in outcome ? outcome.value : undefined;
  }

  async function runLane(stores: Stores, lane: number): Promise<void> {
    const read = new Map<StoreName, SnapshotReference>();
    for (const [index, command] of (program.lanes[lane] ?? []).entries()) {
      const name = `${lane}.${index}`;
      const snapshot = await snapshotFor(command, name);
      const step = "step" in command && command.step !== null ? stepOf(command.type, command.step) : undefined;
      const done = observe(stores, { command, name, step, snapshot }, async () =>
        command.type === "restart" ? memory.restart() : performCommand(stores, command, name, step, snapshot),
      );
      if (command.type === "when" || command.type === "wait-take") waits.push(done.then(() => (ended += 1)));
      else await done;
    }

    async function snapshotFor(command: Command, name: string): Promise<SnapshotReference | undefined> {
      if (command.type !== "update-from" && command.type !== "delete-from") return undefined;
      const { store } = command;
      const known = read.get(store);
      if (command.type === "update-from" && command.stale && known !== undefined) return known;
      const get: Command = { type: "get", store };
      const got = (await observe(stores, { command: get, name: `${name}.get` }, () =>
        stores.getStore(addressOf(store)),
      )) as SnapshotReference | undefined; // What `get` answers, or nothing if it failed.
      if (got !== undefined) read.set(store, got);
      return got ?? { instanceId: "none", version: 0 };
    }
  }

  const watched = clients.map((stores) => {
    const sights: Sight[] = [];
    stores.store(Model, "a").watch(
      (state) => state,
      (state, { instanceId, version }) => void sights.push({ state, instanceId, version }),
    );
    return sights;
  });
  const lanes = program.lanes.map((_, lane) => runLane(clients[lane % 2] as Stores, lane)); // There are two clients.
  await scheduler.waitFor(Promise.all(lanes));
  // What follows finds out how the program has ended, and is no part of it.
  trouble.faults.length = 0;

  for (let round = 0; ended < waits.length; round++) {
    if (round === MAX_ROUNDS) throw new Error(`A wait was missed; ended: ${JSON.stringify(observations, null, 1)}`);
    for (const address of [a, b]) {
      const settle = clients[0]?.updateStore({
        ...address,
        updater: (draft) => {
          for (const part of ["x", "y"]) draft.items.push(`settle-${round}${part}`);
          draft.count += 10;
          draft.log.push(`settle-${round}`);
        },
      });
      await scheduler.waitFor(Promise.resolve(settle));
    }
    await quiesce(scheduler, timers);
  }
  await quiesce(scheduler, timers);
  const ends = clients.map(async (stores) => {
    const read: unknown = await stores.getStore(a);
    return { read, peeked: stores.store(Model, "a").peek() };
  });
  const last = await scheduler.waitFor(Promise.all(ends));
  await scheduler.waitFor(Promise.all(clients.map((stores) => stores.close())));
  return { observations, history, database: memory.database, watched, finally: last };
}

const stepOf = (type: string, { execution, key }: ProgramStep): StepId => ({
  executionId: `E${execution}`,
  stepKey: `${type}-${key}`,
});

/** Every call and every event passes the scheduler; some commits lose their owner, some events get lost. */
function interleavingOf(
  { faults, losses }: { readonly faults: Fault[]; readonly losses: boolean[] },
  scheduler: Scheduler,
  committed: () => void,
): Interleaving {
  const chosen = new WeakMap<ConnectorCall, Fault>();
  const lost = (): OutcomeUnknownError => new OutcomeUnknownError("The owner was lost.");
  const pass = (label: string): Promise<unknown> => scheduler.schedule(Promise.resolve(), label);
  return {
    beforeCall: async (call) => {
      if (call.method === "commit") chosen.set(call, faults.shift() ?? "none");
      await pass(`${call.session} ${call.method}`);
      if (chosen.get(call) === "before") throw lost();
    },
    afterCall: async (call) => {
      if (call.method === "commit") committed();
      await pass(`${call.session} ${call.method} reply`);
      if (chosen.get(call) === "after") throw lost();
    },
    beforeEvent: async (event, session) => {
      await pass(`${session} hears ${event.type}`);
      return event.type === "owner" || !(losses.shift() ?? false);
    },
  };
}

interface ManualTimers {
  readonly clock: Clock;
  /** Lets the time of every timer come that is set now. */
  fire(): void;
}

function manualTimers(): ManualTimers {
  const tasks = new Set<() => void>();
  let time = Date.UTC(2024, 0, 1);
  return {
    clock: {
      now: () => time,
      after: (_delay, task) => {
        tasks.add(task);
        return () => void tasks.delete(task);
      },
    },
    fire: () => {
      time += 60_000;
      const due = [...tasks];
      tasks.clear();
      for (const task of due) task();
    },
  };
}

/** Lets everything under way end, and sweeps, since an event that was lost is only missed by a sweep. */
async function quiesce(scheduler: Scheduler, timers: ManualTimers): Promise<void> {
  for (let sweep = 0; sweep < 2; sweep++) {
    await scheduler.waitIdle();
    timers.fire();
  }
  await scheduler.waitIdle();
}
