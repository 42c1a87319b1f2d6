/**
 * The owner: answers the calls of every session and tells everybody what was committed. It exists only while this
 * worker holds the owner lock (main.ts).
 *
 * O1  The database is opened only under the lock, and closed before the lock is given up.
 * O2  Nothing that arrives on the event channel makes it write: a hello registers a session, and only a registered
 *     session can call, on links of its own.
 * O3  Memory takes the place of OPFS only if the page allowed it and only where OPFS is unsupported or blocked.
 * O4  When the database can no longer tell what is in it (a COMMIT of unknown outcome), this owner gives up: the next one
 *     opens the file anew and decides from the records.
 * O5  When a newer build arrives that cannot live beside this one, what has arrived is finished, every session is told
 *     that nothing more was applied, and this owner gives up.
 */
import { type ForeignMessage, outdatedBuild } from "../src/protocol/builds.js";
import { StorageDamagedError, StorageFullError, StorageUnavailableError, toWire } from "../src/protocol/errors.js";
import type { StorageStatus, StoreEvent } from "../src/protocol/events.js";
import { isTransferMethod } from "../src/protocol/transfer.js";
import {
  type CallRequest,
  type ChannelMessage,
  type HelloMessage,
  type OwnerMessage,
  type StorageDescription,
  VERSIONS,
  type WorkerCommand,
} from "../src/protocol/wire.js";
import { CallQueue } from "./call-queue.js";
import { type EventChannel, openEventChannel, openSessionChannel } from "./channel.js";
import { createStoreHost, type StoreHost } from "./connector.js";
import { type Database, openMemoryDatabase, openOpfsDatabase, type Sqlite } from "./database.js";
import type { MessageEndpoint } from "./endpoint.js";
import { Sessions } from "./sessions.js";
import { Transfers } from "./transfers.js";

/**
 * Milliseconds for which a client that is gone may come back (from the back/forward cache, from a machine's sleep) and
 * still learn what became of its last writes.
 */
const SESSION_BOUND = 10 * 60_000;

export type StartCommand = Extract<WorkerCommand, { type: "start" }>;

interface Opened {
  readonly database: Database;
  readonly storage: StorageDescription;
}

export class Owner {
  readonly #giveUp: () => void;
  readonly #name: string;
  readonly #page: string;
  readonly #database: Database;
  #storage: StorageDescription;
  readonly #host: StoreHost;
  readonly #channel: EventChannel;
  readonly #calls: CallQueue;
  readonly #sessions: Sessions;
  readonly #transfers: Transfers;
  readonly #sweep: ReturnType<typeof setInterval>;
  /** An import has replaced the content: no call is answered any more. */
  #isSucceeded = false;
  /** A newer build takes over: a call that arrives now is not run, and retiring is its answer (O5). */
  #isRetiring = false;
  /** Messages dropped because they were not of the protocol. */
  dropped = 0;

  private constructor(start: StartCommand, epoch: number, { database, storage }: Opened, giveUp: () => void) {
    this.#giveUp = giveUp;
    this.#name = start.name;
    this.#page = start.session;
    this.#database = database;
    this.#storage = storage;
    const drop = (): void => {
      this.dropped += 1;
    };
    this.#host = createStoreHost(database, {
      clock: Date.now,
      epoch,
      // Somebody may have heard of owners of a database that this one takes the place of (evicted, or in memory and
      // gone with its tab) and not be here to say so. Milliseconds pass faster than owners change.
      firstEpoch: Date.now(),
      ...(start.changesLimit === null ? {} : { changesLimit: start.changesLimit }),
      publish: (event) => this.#publish(event),
    });
    this.#channel = openEventChannel(start.name, {
      receive: (message) => this.#receive(message),
      foreign: (message) => this.#meetForeign(message),
      drop,
    });
    this.#calls = new CallQueue({
      epoch: this.#host.epoch,
      run: (request) => this.#run(request),
      commitAll: (calls) => this.#host.commitAll(calls),
      failed: (error) => this.#afterFailure(error),
    });
    this.#sessions = new Sessions({
      name: start.name,
      epoch: this.#host.epoch,
      call: (request) => this.#calls.call(request),
      drop,
      ended: (session) => {
        this.#transfers.endSession(session);
        this.#host.endSession(session);
      },
    });
    this.#transfers = new Transfers(database, {
      databaseId: this.#host.databaseId,
      head: () => this.#host.head(),
      replaced: () => this.#succeed(),
      damaged: (problem) => this.#tell("damaged", problem),
    });
    for (const session of this.#host.standingSessions()) this.#sessions.watch(session);
    this.#sweepSessions();
    this.#sweep = setInterval(() => this.#sweepSessions(), SESSION_BOUND);
  }

  /**
   * Opens the database; the caller holds the owner lock.
   *
   * @param epoch highest epoch heard of: this owner numbers itself above it
   * @param giveUp is called when this owner must not go on
   */
  static async open(sqlite: Sqlite, start: StartCommand, epoch: number, giveUp: () => void): Promise<Owner> {
    const opened = await openDatabase(sqlite, start);
    try {
      return new Owner(start, epoch, opened, giveUp);
    } catch (error) {
      opened.database.close();
      throw error;
    }
  }

  /** Lets the page of this worker call, then tells everybody that this owner is there. */
  begin(port: MessagePort): OwnerMessage {
    this.#sessions.link(this.#page, port);
    const announcement = this.#introduce(null);
    this.#channel.post(announcement);
    return announcement;
  }

  /** A port that the broker brought. The session is registered before, by its hello; otherwise nobody would watch it. */
  link(session: string, epoch: number, port: MessagePort): void {
    if (epoch === this.#host.epoch && this.#sessions.isLinked(session)) this.#sessions.link(session, port);
    else port.close();
  }

  close(): void {
    clearInterval(this.#sweep);
    this.#calls.close();
    this.#transfers.close();
    this.#sessions.close();
    this.#channel.close();
    this.#host.close();
    this.#database.close();
  }

  #run({ session, method, body }: CallRequest): unknown {
    if (method === "describe") return this.#storage;
    if (method === "leave") return this.#host.removeSession(session);
    if (isTransferMethod(method)) return this.#transfers.call(session, method, body);
    return this.#host.call(session, method, body);
  }

  #sweepSessions(): void {
    try {
      this.#host.removeEndedSessions(SESSION_BOUND, (session) => this.#sessions.has(session));
    } catch (error) {
      this.#tellOf(error); // Nothing depends on it: the next sweep or the next owner removes them.
    }
  }

  /** The content is another one: the next owner tells everybody so, and answers what still comes. */
  #succeed(): void {
    this.#host.close();
    this.#isSucceeded = true;
    this.#giveUp();
  }

  #afterFailure(error: unknown): boolean {
    this.#tellOf(error);
    if (this.#isSucceeded || this.#isRetiring) return false;
    if (this.#database.usable) return true;
    this.#giveUp(); // O4
    return false;
  }

  #tellOf(error: unknown): void {
    if (error instanceof StorageFullError) this.#tell("full", error.message);
    if (error instanceof StorageDamagedError) this.#tell("damaged", error.message);
  }

  #tell(status: StorageStatus, reason: string): void {
    this.#channel.post({ type: "storage", epoch: this.#host.epoch, status, reason });
  }

  #publish(event: StoreEvent): void {
    if (event.type === "commit" || event.type === "wake" || event.type === "storage") this.#channel.post(event);
  }

  #receive(message: ChannelMessage): void {
    if (message.type === "hello") this.#meet(message);
  }

  #meetForeign({ build }: ForeignMessage): void {
    // An older one learns from the versions in it that it is outdated.
    if (build === "older") return this.#channel.post(this.#introduce(null));
    if (this.#isRetiring) return;
    this.#calls.close();
    this.#isRetiring = true;
    // Behind every reply, on the same way: who hears it knows that what it has no reply to was never run (O5).
    this.#sessions.retire(toWire(outdatedBuild()));
    this.#giveUp();
  }

  #meet(hello: HelloMessage): void {
    if (hello.durability === "strict" && this.#storage.kind === "opfs" && this.#storage.durability !== "strict") {
      this.#database.setDurability("strict");
      this.#storage = { kind: "opfs", durability: this.#database.durability };
    }
    if (hello.changesLimit !== null) this.#host.setChangesLimit(hello.changesLimit);
    if (!this.#sessions.isLinked(hello.session)) {
      const endpoint: MessageEndpoint = openSessionChannel(this.#name, hello.session);
      this.#sessions.link(hello.session, endpoint);
    }
    this.#channel.post(this.#introduce(hello.session));
  }

  #introduce(to: string | null): OwnerMessage {
    return {
      type: "owner",
      versions: VERSIONS,
      epoch: this.#host.epoch,
      host: this.#page,
      databaseId: this.#host.databaseId,
      sequence: this.#host.head(),
      storage: this.#storage,
      to,
    };
  }
}

async function openDatabase(sqlite: Sqlite, start: StartCommand): Promise<Opened> {
  const { name, durability, fallback } = start;
  try {
    const database = await openOpfsDatabase(sqlite, { name, durability });
    // Its own word and not what was asked for: without WAL it is always strict.
    return { database, storage: { kind: "opfs", durability: database.durability } };
  } catch (error) {
    const platformLacksIt =
      error instanceof StorageUnavailableError && (error.reason === "unsupported" || error.reason === "blocked");
    if (fallback !== "memory" || !platformLacksIt) throw error; // O3
    return { database: openMemoryDatabase(sqlite), storage: { kind: "memory", reason: error.message } };
  }
}
