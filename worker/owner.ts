/**
 * The owner: answers the calls of every session and tells everybody what was committed. It exists only while this
 * worker holds the owner lock (main.ts).
 *
 * O1  The database is opened only under the lock, and closed before the lock is given up.
 * O2  Nothing that arrives on the event channel makes it write: a hello registers a session, and only a registered
 *     session can call, on links of its own.
 * O3  Memory takes the place of OPFS only if the page allowed it and only where OPFS is unsupported or blocked.
 */
import { StorageFullError, StorageUnavailableError, toWire } from "../src/protocol/errors.js";
import type { StoreEvent } from "../src/protocol/events.js";
import {
  type CallReply,
  type CallRequest,
  type ChannelMessage,
  type HelloMessage,
  type OwnerMessage,
  type StorageDescription,
  VERSIONS,
  type WorkerCommand,
} from "../src/protocol/wire.js";
import { type EventChannel, openEventChannel, openSessionChannel } from "./channel.js";
import { createStoreHost, type StoreHost } from "./connector.js";
import { type Database, openMemoryDatabase, openOpfsDatabase, type Sqlite } from "./database.js";
import type { MessageEndpoint } from "./endpoint.js";
import { Sessions } from "./sessions.js";

export type StartCommand = Extract<WorkerCommand, { type: "start" }>;

interface Opened {
  readonly database: Database;
  readonly storage: StorageDescription;
}

export class Owner {
  readonly #name: string;
  readonly #page: string;
  readonly #database: Database;
  #storage: StorageDescription;
  readonly #host: StoreHost;
  readonly #channel: EventChannel;
  readonly #sessions: Sessions;
  /** Messages dropped because they were not of the protocol. */
  dropped = 0;

  private constructor(start: StartCommand, epoch: number, { database, storage }: Opened) {
    this.#name = start.name;
    this.#page = start.session;
    this.#database = database;
    this.#storage = storage;
    const drop = (): void => {
      this.dropped += 1;
    };
    this.#channel = openEventChannel(start.name, (message) => this.#receive(message), drop);
    this.#host = createStoreHost(database, {
      clock: Date.now,
      epoch,
      ...(start.changesLimit === null ? {} : { changesLimit: start.changesLimit }),
      publish: (event) => this.#publish(event),
    });
    this.#sessions = new Sessions({
      name: start.name,
      epoch: this.#host.epoch,
      call: (request) => this.#call(request),
      drop,
      ended: (session) => this.#host.endSession(session),
    });
  }

  /**
   * Opens the database; the caller holds the owner lock.
   *
   * @param epoch highest epoch heard of: this owner numbers itself above it
   */
  static async open(sqlite: Sqlite, start: StartCommand, epoch: number): Promise<Owner> {
    const opened = await openDatabase(sqlite, start);
    try {
      return new Owner(start, epoch, opened);
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
    if (epoch === this.#host.epoch && this.#sessions.has(session)) this.#sessions.link(session, port);
    else port.close();
  }

  close(): void {
    this.#sessions.endAll();
    this.#channel.close();
    this.#host.close();
    this.#database.close();
  }

  // Synchronous up to the reply, so that replies leave in the order in which the calls came.
  #call(request: CallRequest): Promise<CallReply> {
    const frame = { epoch: this.#host.epoch, number: request.number };
    try {
      const value =
        request.method === "describe" ? this.#storage : this.#host.call(request.session, request.method, request.body);
      return Promise.resolve({ ...frame, status: "done", value });
    } catch (error) {
      if (error instanceof StorageFullError) {
        this.#channel.post({ type: "storage", epoch: this.#host.epoch, status: "full", reason: error.message });
      }
      return Promise.resolve({ ...frame, status: "failed", error: toWire(error) });
    }
  }

  #publish(event: StoreEvent): void {
    if (event.type === "commit" || event.type === "wake" || event.type === "storage") this.#channel.post(event);
  }

  #receive(message: ChannelMessage): void {
    if (message.type === "hello") this.#meet(message);
    else if (message.type === "goodbye" && message.session !== this.#page) this.#sessions.end(message.session);
  }

  #meet(hello: HelloMessage): void {
    if (hello.durability === "strict" && this.#storage.kind === "opfs" && this.#storage.durability !== "strict") {
      this.#database.setDurability("strict");
      this.#storage = { kind: "opfs", durability: "strict" };
    }
    if (hello.changesLimit !== null) this.#host.setChangesLimit(hello.changesLimit);
    if (!this.#sessions.has(hello.session)) {
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
    return { database, storage: { kind: "opfs", durability } };
  } catch (error) {
    const platformLacksIt =
      error instanceof StorageUnavailableError && (error.reason === "unsupported" || error.reason === "blocked");
    if (fallback !== "memory" || !platformLacksIt) throw error; // O3
    return { database: openMemoryDatabase(sqlite), storage: { kind: "memory", reason: error.message } };
  }
}
