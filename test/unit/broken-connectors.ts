/** Connectors that break the contract in one way each, to see that the conformance suite notices. */
import type { Change } from "../../src/protocol/change.js";
import type {
  ChangesReading,
  CommitOperation,
  CommitOutcome,
  CommitRequest,
  StoreConnector,
} from "../../src/protocol/connector.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { encodePaths } from "../../src/protocol/path.js";

/** One way to be wrong. */
export interface Fault {
  readonly name: string;
  /** The case that must fail, by the beginning of its name. */
  readonly caughtBy: string;
  /** What replaces parts of a sound connector. */
  breaks(sound: StoreConnector): Partial<StoreConnector>;
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

const mapOperations =
  (sound: StoreConnector, change: (operation: CommitOperation) => CommitOperation) =>
  (request: CommitRequest): Promise<CommitOutcome> =>
    sound.commit({ operations: request.operations.map(change) });

/** Commits after the caller was told: the event comes first. */
function announceEarly(sound: StoreConnector): Partial<StoreConnector> {
  const listeners = new Set<(event: StoreEvent) => void>();
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    commit: async (request) => {
      const { sequence } = await sound.readStore({ storeName: "any", storeId: "any" });
      const changes = request.operations.map(({ storeName, storeId }, position): Change => {
        const details = { instanceId: "any", version: 0, changedPaths: "[[]]", deleted: false, origin: sound.session };
        return { storeName, storeId, sequence: sequence + 1, position, ...details };
      });
      for (const listener of listeners) listener({ type: "commit", epoch: 1, changes });
      await soon();
      return sound.commit(request);
    },
  };
}

/** Looks, and registers a moment later without looking again. */
async function checkThenRegister(
  sound: StoreConnector,
  registration: Parameters<StoreConnector["registerWaiter"]>[0],
): ReturnType<StoreConnector["registerWaiter"]> {
  const { snapshot } = await sound.readStore(registration);
  if (snapshot?.version !== registration.sinceVersion) return sound.registerWaiter(registration);
  await soon();
  const now = await sound.readStore(registration);
  return sound.registerWaiter({ ...registration, sinceVersion: now.snapshot?.version ?? 0 });
}

async function doubled(reading: Promise<ChangesReading>): Promise<ChangesReading> {
  const found = await reading;
  if (found.status === "trimmed") return found;
  return {
    ...found,
    head: found.head * 2,
    changes: found.changes.map((change) => ({ ...change, sequence: change.sequence * 2 })),
  };
}

export const faults: readonly Fault[] = [
  {
    name: "a registration that can be overtaken by a commit",
    caughtBy: "C4: a waiter registered while others commit",
    breaks: (sound) => ({ registerWaiter: (registration) => checkThenRegister(sound, registration) }),
  },
  {
    name: "a registration that looks at nothing",
    caughtBy: "stores 11: a waiter on a missing store",
    breaks: (sound) => ({
      registerWaiter: async (registration) => {
        await sound.registerWaiter({ ...registration, sinceVersion: 1_000_000 });
        return { status: "registered" };
      },
    }),
  },
  {
    name: "paths that match only when they are equal",
    caughtBy: "stores 12: a commit wakes whose paths it touches",
    breaks: (sound) => ({
      registerWaiter: (registration) =>
        sound.registerWaiter({ ...registration, readPaths: encodePaths([[registration.readPaths]]) }),
      commit: mapOperations(sound, (operation) =>
        "changedPaths" in operation
          ? { ...operation, changedPaths: encodePaths([[operation.changedPaths]]) }
          : operation,
      ),
    }),
  },
  {
    name: "paths that are not looked at",
    caughtBy: "stores 12: a commit wakes whose paths it touches",
    breaks: (sound) => ({
      registerWaiter: (registration) => sound.registerWaiter({ ...registration, readPaths: encodePaths([[]]) }),
    }),
  },
  {
    name: "receipts that are not written",
    caughtBy: "stores 9: a receipt is written with its commit",
    breaks: (sound) => ({ commit: mapOperations(sound, ({ step: _, ...operation }) => operation) }),
  },
  {
    name: "receipts that do not know their operation",
    caughtBy: "C3: where a receipt is found nothing is written",
    breaks: (sound) => ({
      commit: mapOperations(sound, (operation) =>
        operation.step === undefined
          ? operation
          : { ...operation, step: { ...operation.step, operation: "delete-from" } },
      ),
    }),
  },
  {
    name: "receipts that go when their execution is forgotten, and leave nothing behind",
    caughtBy: "stores 9: a forgotten execution is refused with an old step, a new one, and on",
    breaks: () => ({ forgetExecution: async () => undefined }),
  },
  {
    name: "versions that are not checked",
    caughtBy: "C1: compare-and-swap loops",
    breaks: (sound) => ({
      commit: async (request) => {
        const [operation] = request.operations;
        if (operation?.type !== "replace") return sound.commit(request);
        for (;;) {
          const { snapshot } = await sound.readStore(operation);
          if (snapshot === null) return sound.commit(request);
          const outcome = await sound.commit({ operations: [{ ...operation, expected: snapshot }] });
          // A receipt or a tombstone would refuse it for ever.
          const isLost = outcome.status === "rejected" && outcome.verdicts[0]?.status === "conflict";
          if (!isLost) return outcome;
        }
      },
    }),
  },
  {
    name: "instances that are not checked",
    caughtBy: "stores 5: replacing another instance is a conflict",
    breaks: (sound) => ({
      commit: async (request) => {
        const [operation] = request.operations;
        if (operation?.type !== "replace") return sound.commit(request);
        const { snapshot } = await sound.readStore(operation);
        const instanceId = snapshot?.instanceId ?? operation.expected.instanceId;
        return sound.commit({ operations: [{ ...operation, expected: { ...operation.expected, instanceId } }] });
      },
    }),
  },
  {
    name: "operations that are committed one by one",
    caughtBy: "stores 5: one operation that cannot be written",
    breaks: (sound) => ({
      commit: async (request) => {
        const outcome = await sound.commit(request);
        if (outcome.status === "rejected") {
          for (const operation of request.operations) await sound.commit({ operations: [operation] });
        }
        return outcome;
      },
    }),
  },
  {
    name: "operations that take a sequence each",
    caughtBy: "stores 18: operations on several stores are one commit",
    breaks: (sound) => ({
      commit: async ({ operations }) => {
        let last: CommitOutcome = { status: "committed", sequence: 0 };
        for (const operation of operations) last = await sound.commit({ operations: [operation] });
        return last;
      },
    }),
  },
  {
    name: "sequences with gaps",
    caughtBy: "C2: sequences of racing commits ascend without gaps",
    breaks: (sound) => ({
      commit: async (request) => {
        const outcome = await sound.commit(request);
        return { ...outcome, sequence: outcome.sequence * 2 };
      },
      readChanges: (request) => doubled(sound.readChanges({ ...request, after: request.after / 2 })),
    }),
  },
  {
    name: "events that come before their commit",
    caughtBy: "C5: every session hears every commit",
    breaks: announceEarly,
  },
  {
    name: "events that the committing session does not hear",
    caughtBy: "C5: every session hears every commit",
    breaks: (sound) => ({
      subscribe: (listener) =>
        sound.subscribe((event) => {
          if (event.type !== "commit" || event.changes[0]?.origin !== sound.session) listener(event);
        }),
    }),
  },
  {
    name: "acknowledgements that do not look at the generation",
    caughtBy: "stores 13: acknowledging removes the wake of that generation",
    breaks: (sound) => ({
      acknowledgeWake: async ({ executionId }) => {
        const wakes = await sound.readWakes({ limit: 100, claim: false });
        for (const wake of wakes) if (wake.executionId === executionId) await sound.acknowledgeWake(wake);
      },
    }),
  },
  {
    name: "claims that several sessions can have",
    caughtBy: "stores 12: sessions that claim at once share",
    breaks: (sound) => ({ readWakes: ({ limit }) => sound.readWakes({ limit, claim: false }) }),
  },
  {
    name: "pages of the feed that cut a commit in two",
    caughtBy: "C2: pages of the feed put together are the feed",
    breaks: (sound) => ({
      readChanges: async (request) => {
        const reading = await sound.readChanges(request);
        return reading.status === "read" ? { ...reading, changes: reading.changes.slice(0, request.limit) } : reading;
      },
    }),
  },
  {
    name: "ids in the order of UTF-16",
    caughtBy: "stores Public surface: ids are listed",
    breaks: (sound) => ({ listStores: async (request) => [...(await sound.listStores(request))].sort() }),
  },
  {
    name: "states whose characters are normalised",
    caughtBy: "stores 22: a state comes back as the text",
    breaks: (sound) => ({
      commit: mapOperations(sound, (operation) =>
        "state" in operation ? { ...operation, state: operation.state.normalize() } : operation,
      ),
    }),
  },
  {
    name: "definition versions that are not compared",
    caughtBy: "stores 31: a row of a newer definition",
    breaks: (sound) => ({ commit: mapOperations(sound, (operation) => ({ ...operation, definitionVersion: 9 })) }),
  },
  {
    name: "waiters that stay when their step is done",
    caughtBy: "stores 13: recording a step's result removes its waiter",
    breaks: (sound) => ({
      registerWaiter: (registration) =>
        sound.registerWaiter({ ...registration, stepKey: `${registration.stepKey} of another name` }),
    }),
  },
  {
    name: "signals that nobody looks at",
    caughtBy: "stores 14: a call whose signal aborted",
    breaks: (sound) => ({ commit: (request) => sound.commit(request) }),
  },
];
