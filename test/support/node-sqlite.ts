/**
 * The worker's SQL side without a worker: SQLite in memory, in Node, behind the same StoreConnector that a page gets.
 *
 * Owns: one database, the host on it, and the sessions. A restart closes the host and opens the next on the same data,
 * as another tab would; the sessions go on.
 */
import type { CallOptions, StoreConnector } from "../../src/protocol/connector.js";
import { AbortedError, ClosedError } from "../../src/protocol/errors.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import type { StoreMethod } from "../../src/protocol/wire.js";
import { createStoreHost, type StoreHost } from "../../worker/connector.js";
import { type Database, loadSqlite, openMemoryDatabase } from "../../worker/database.js";
import { type ManualClock, manualClock } from "./manual-clock.js";

export interface NodeDatabaseOptions {
  readonly clock?: ManualClock;
  readonly changesLimit?: number;
}

export interface NodeDatabase {
  /** The database under the host, for tests that look below the connector. */
  readonly database: Database;
  readonly clock: ManualClock;
  /** The host that answers now. */
  host(): StoreHost;
  /** A new session. The first event it hears says who the owner is. */
  connect(session?: string): StoreConnector;
  /** Closes the host and opens the next one: what was committed stays, claims of wakes are dropped, the epoch rises. */
  restart(): void;
  close(): Promise<void>;
}

interface Session {
  readonly id: string;
  readonly listeners: Set<(event: StoreEvent) => void>;
}

export async function openNodeDatabase(options: NodeDatabaseOptions = {}): Promise<NodeDatabase> {
  const { clock = manualClock(), changesLimit } = options;
  const database = openMemoryDatabase(await loadSqlite());
  const sessions = new Map<string, Session>();
  let connected = 0;
  let host = openHost();

  function openHost(): StoreHost {
    return createStoreHost(database, {
      clock: () => clock.now(),
      ...(changesLimit === undefined ? {} : { changesLimit }),
      publish: (event) => {
        for (const session of sessions.values()) deliver(session, event);
      },
    });
  }

  function deliver(session: Session, event: StoreEvent): void {
    const sent = structuredClone(event);
    // After the call that caused it, as on a channel; microtasks keep the order of events.
    queueMicrotask(() => {
      for (const listener of [...session.listeners]) listener(sent);
    });
  }

  function ownerEvent(): StoreEvent {
    const { epoch, databaseId } = host;
    return { type: "owner", epoch, host: "node", databaseId, sequence: host.head(), storage: "memory" };
  }

  return {
    database,
    clock,
    host: () => host,
    connect: (id = `session-${++connected}`) => {
      const session: Session = { id, listeners: new Set() };
      sessions.set(id, session);
      deliver(session, ownerEvent());
      return connectToHost(
        () => host,
        session,
        () => sessions.delete(id),
      );
    },
    restart: () => {
      host.close();
      host = openHost();
      for (const session of sessions.values()) deliver(session, ownerEvent());
    },
    close: async () => {
      sessions.clear();
      host.close();
      database.close();
    },
  };
}

/** One session's view of whatever host answers at the time of a call. */
function connectToHost(host: () => StoreHost, session: Session, ended: () => void): StoreConnector {
  let closed = false;

  async function call<T>(method: StoreMethod, body: unknown, { signal }: CallOptions = {}): Promise<T> {
    const giveUp = (): void => {
      if (closed) throw new ClosedError("The connector was closed: open another one.");
      if (signal?.aborted) throw new AbortedError("The call was given up.", {}, { cause: signal.reason });
    };
    giveUp();
    // Copied on either way, as by the wire: what a caller does to its objects later is not part of the call.
    const sent: unknown = structuredClone(body);
    await Promise.resolve();
    giveUp();
    // The method names the type of its outcome in StoreConnector, below.
    return structuredClone(host().call(session.id, method, sent)) as T;
  }

  return {
    session: session.id,
    readStore: (key, options) => call("readStore", key, options),
    commit: (request, options) => call("commit", request, options),
    getAppliedStoreStep: (request, options) => call("getAppliedStoreStep", request, options),
    listStores: (request, options) => call("listStores", request, options),
    readChanges: (request, options) => call("readChanges", request, options),
    registerWaiter: (registration, options) => call("registerWaiter", registration, options),
    readWakes: (request, options) => call("readWakes", request, options),
    acknowledgeWake: (request) => call("acknowledgeWake", request),
    releaseWake: (request) => call("releaseWake", request),
    forgetExecution: (executionId) => call("forgetExecution", executionId),
    storage: async () => {
      if (closed) throw new ClosedError("The connector was closed: open another one.");
      return { kind: "memory", reason: "SQLite runs in Node, which has no OPFS" };
    },
    subscribe: (listener) => {
      // Wrapped, so that one function subscribed twice is two subscriptions.
      const subscription = (event: StoreEvent): void => listener(event);
      session.listeners.add(subscription);
      return () => session.listeners.delete(subscription);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      session.listeners.clear();
      ended();
      host().endSession(session.id);
    },
  };
}
