/**
 * An in-memory StoreConnector: the executable reading of the contract, for tests.
 *
 * Owns the sessions of one MemoryDatabase: when their calls take effect, and what events they hear. Does not own the
 * rows (memory-database.ts).
 *
 * M3  A call takes effect at one moment between its being made and its reply; nothing else happens in that moment.
 * M4  Every session hears every event, in the order of the commits, and none before its commit has taken effect.
 */
import type { CallOptions, CommitOutcome, StoreConnector } from "../protocol/connector.js";
import { AbortedError, ClosedError } from "../protocol/errors.js";
import type { StoreEvent } from "../protocol/events.js";
import { MemoryDatabase } from "./memory-database.js";

/** A call on its way, as an interleaving sees it: the same object before and after. */
export interface ConnectorCall {
  readonly session: string;
  readonly method: Exclude<keyof StoreConnector, "session" | "subscribe" | "close">;
}

/** What a test puts between a session and the database: delays, and with them every order that may occur. */
export interface Interleaving {
  /** Awaited before a call takes effect. Rejecting: it never takes effect, and its caller gets this error. */
  readonly beforeCall?: (call: ConnectorCall) => Promise<void>;
  /** Called in the moment of its effect, and awaited before its caller hears. Rejecting: the reply is lost, and its caller gets this error. */
  readonly afterCall?: (call: ConnectorCall) => Promise<void>;
  /** Awaited before a session hears an event; those behind it wait. `false`: this event is lost. */
  readonly beforeEvent?: (event: StoreEvent, session: string) => Promise<boolean>;
}

export interface MemoryConnectorOptions {
  readonly clock?: { now(): number };
  /** How many changes the feed keeps; omitted: all. */
  readonly changesLimit?: number;
  readonly interleaving?: Interleaving;
}

/** One database, for as many sessions as a test wants. */
export interface MemoryConnectorDatabase {
  /** The rows below the connectors, for tests that look at them in the moment of a call. */
  readonly database: MemoryDatabase;
  /** A new session. The first event it hears says who the owner is. */
  connect(session?: string): StoreConnector;
  /** Another owner takes the database over: what was committed stays, the sessions go on, claims of wakes are dropped. */
  restart(): void;
  /** Closes every session. */
  close(): Promise<void>;
}

interface Session {
  readonly id: string;
  readonly listeners: Set<(event: StoreEvent) => void>;
  /** The delivery of the last event queued. */
  delivery: Promise<void>;
  closed: boolean;
}

export function openMemoryDatabase(options: MemoryConnectorOptions = {}): MemoryConnectorDatabase {
  const { clock = Date, changesLimit = Number.POSITIVE_INFINITY, interleaving = {} } = options;
  const database = new MemoryDatabase({ now: () => clock.now(), changesLimit });
  const databaseId = crypto.randomUUID();
  const sessions = new Set<Session>();
  let connected = 0;
  let epoch = 1;
  let host = "none";

  function ownerEvent(): StoreEvent {
    return { type: "owner", epoch, host, databaseId, sequence: database.sequence, storage: "memory" };
  }

  function send(session: Session, event: StoreEvent): void {
    session.delivery = session.delivery.then(async () => {
      const heard = (await interleaving.beforeEvent?.(event, session.id)) ?? true;
      if (!heard) return;
      for (const listener of [...session.listeners]) listener(structuredClone(event));
    });
  }

  function sendToAll(event: StoreEvent): void {
    for (const session of sessions) send(session, event);
  }

  function announceWakes(executionIds: readonly string[]): void {
    if (executionIds.length > 0) sendToAll({ type: "wake", epoch, executionIds });
  }

  function connect(id: string = `session-${++connected}`): StoreConnector {
    const session: Session = { id, listeners: new Set(), delivery: Promise.resolve(), closed: false };
    sessions.add(session);
    if (sessions.size === 1) host = id;
    send(session, ownerEvent());

    async function call<T>(method: ConnectorCall["method"], effect: () => T, { signal }: CallOptions = {}): Promise<T> {
      const giveUp = (): void => {
        if (session.closed) throw new ClosedError("The connector was closed: open another one.");
        if (signal?.aborted) throw new AbortedError("The call was given up.", {}, { cause: signal.reason });
      };
      giveUp();
      const made: ConnectorCall = { session: id, method };
      await interleaving.beforeCall?.(made);
      giveUp();
      const result = effect();
      await interleaving.afterCall?.(made);
      return result;
    }

    return {
      session: id,
      readStore: (key, callOptions) => call("readStore", () => database.readStore(key), callOptions),
      commit: async (request, callOptions) => {
        // Copied when the call is made: what its caller does to the request later is not part of it.
        const sent = structuredClone(request);
        return call(
          "commit",
          (): CommitOutcome => {
            const { outcome, effects } = database.commit(sent, id);
            if (effects.changes.length > 0) sendToAll({ type: "commit", epoch, changes: effects.changes });
            announceWakes(effects.wokenExecutions);
            return outcome;
          },
          callOptions,
        );
      },
      getAppliedStoreStep: (request, callOptions) =>
        call("getAppliedStoreStep", () => database.getAppliedStoreStep(request), callOptions),
      listStores: (request, callOptions) => call("listStores", () => database.listStores(request), callOptions),
      readChanges: (request, callOptions) =>
        call("readChanges", () => structuredClone(database.readChanges(request)), callOptions),
      registerWaiter: async (registration, callOptions) => {
        const sent = structuredClone(registration);
        return call(
          "registerWaiter",
          () => {
            const outcome = database.registerWaiter(sent);
            if (outcome.status === "woken") announceWakes([sent.executionId]);
            return outcome;
          },
          callOptions,
        );
      },
      readWakes: (request, callOptions) => call("readWakes", () => database.wakes.read(request, id), callOptions),
      acknowledgeWake: (request) =>
        call("acknowledgeWake", () => announceWakes(database.wakes.acknowledge(request, id))),
      releaseWake: ({ executionId }) =>
        call("releaseWake", () => announceWakes(database.wakes.release(executionId, id))),
      forgetExecution: (executionId) => call("forgetExecution", () => database.forgetExecution(executionId)),
      storage: () => call("storage", () => ({ kind: "memory" as const, reason: "a test asked for it" })),
      subscribe: (listener) => {
        // Wrapped, so that one function subscribed twice is two subscriptions.
        const subscription = (event: StoreEvent): void => listener(event);
        session.listeners.add(subscription);
        return () => {
          session.listeners.delete(subscription);
        };
      },
      close: async () => {
        if (session.closed) return;
        session.closed = true;
        sessions.delete(session);
        session.listeners.clear();
        announceWakes(database.wakes.releaseAll(id));
      },
    };
  }

  return {
    database,
    connect,
    restart: () => {
      epoch += 1;
      database.wakes.dropClaims();
      sendToAll(ownerEvent());
    },
    close: async () => {
      for (const session of [...sessions]) {
        session.closed = true;
        session.listeners.clear();
      }
      sessions.clear();
    },
  };
}
