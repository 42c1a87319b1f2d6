/**
 * A session's place among the tabs of a database: its lock, the event channel, the broker, its own worker. Everything
 * that another tab could wait for, so that it can be given up at once.
 *
 * Owns: those four. Does not own: who answers and what is called (connection.ts).
 *
 * N3  The session's lock is held before anybody hears of the session; otherwise the owner would think it dead.
 */
import type { ForeignMessage } from "../protocol/builds.js";
import type { WakefulError } from "../protocol/errors.js";
import type { Durability } from "../protocol/events.js";
import { type ChannelMessage, VERSIONS, type WorkerCommand, type WorkerNotice } from "../protocol/wire.js";
import { type EventChannel, openEventChannel } from "./broadcast.js";
import { type BrokerClient, openBroker } from "./broker-client.js";
import { type OwnWorker, startOwnWorker } from "./own-worker.js";
import { holdSessionLock } from "./session-lock.js";

/** Milliseconds after which a page that does not own prepares its worker for taking over. */
const WARM_AFTER = 1000;

export interface PresenceOptions {
  readonly name: string;
  readonly fallback: "memory" | undefined;
  readonly changesLimit: number | undefined;
  readonly workerUrl: string | URL | undefined;
  readonly brokerUrl: string | URL | undefined;
  readonly wasmUrl: string | URL | undefined;
  /** "broadcast" leaves the broker out. */
  readonly transport: "port" | "broadcast";
  /** False in workers and service workers of an app: they call, and leave owning to pages. */
  readonly canOwn: boolean;
}

export interface PresenceListener {
  readonly session: string;
  /** What a worker that begins now is told. */
  readonly durability: () => Durability;
  readonly epoch: () => number;
  receive(message: ChannelMessage): void;
  foreign(message: ForeignMessage): void;
  drop(): void;
  /** From this page's worker; `port` is the page's own way to it. */
  notice(notice: Exclude<WorkerNotice, { type: "stopped" }>, port: MessagePort): void;
  broken(error: WakefulError): void;
  uncaught(message: string): void;
  /** The worker is gone, and another one was started in its place. */
  replaced(): void;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #listener: PresenceListener;
  readonly #releaseSession: () => void;
  readonly #events: EventChannel;
  readonly #broker: BrokerClient | null;
  #worker: OwnWorker | null;
  /** Its script could not be loaded: nothing that is sent to it arrives. */
  #isBroken = false;
  #warming: ReturnType<typeof setTimeout> | null = null;

  private constructor(options: PresenceOptions, listener: PresenceListener, releaseSession: () => void) {
    this.#options = options;
    this.#listener = listener;
    this.#releaseSession = releaseSession;
    this.#events = openEventChannel(options.name, listener);
    this.#broker =
      options.transport === "port"
        ? openBroker(options.name, options.brokerUrl, (session, epoch, port) =>
            this.#worker?.send({ type: "link", session, epoch }, [port]),
          )
        : null;
    this.#worker = options.canOwn ? this.#startWorker() : null;
  }

  static async take(options: PresenceOptions, listener: PresenceListener): Promise<Presence> {
    return new Presence(options, listener, await holdSessionLock(options.name, listener.session));
  }

  hello(): void {
    this.#events.post({
      type: "hello",
      versions: VERSIONS,
      session: this.#listener.session,
      durability: this.#listener.durability(),
      changesLimit: this.#options.changesLimit ?? null,
    });
  }

  send(command: WorkerCommand): void {
    this.#worker?.send(command);
  }

  /** Tries again to own, after a failure. A script that could not be loaded is loaded anew. */
  retry(): void {
    if (!this.#isBroken) return this.send({ type: "retry" });
    this.#worker?.terminate();
    this.#worker = this.#startWorker();
  }

  /** Prepares the worker for taking over, when the page has had time for better things. */
  warmSoon(): void {
    this.#warming ??= setTimeout(() => this.send({ type: "warm" }), WARM_AFTER);
  }

  /** This page hosts the owner: ports for it come here. */
  host(epoch: number): void {
    this.#broker?.host(epoch);
  }

  /** A port to the owner of this epoch, if there is a broker; whether it leads anywhere shows when it answers. */
  port(epoch: number): MessagePort | undefined {
    return this.#broker?.connect(epoch, this.#listener.session);
  }

  async stopWorker(within: number): Promise<void> {
    await this.#worker?.stop(within);
  }

  /** Ends the worker and leaves the lock to others, but stays among the tabs. */
  dropWorker(): void {
    this.#worker?.terminate();
    this.#worker = null;
  }

  /** Gives everything up, at once. */
  release(): void {
    this.dropWorker();
    this.#broker?.close();
    this.#events.close();
    this.#releaseSession();
    if (this.#warming !== null) clearTimeout(this.#warming);
  }

  #startWorker(): OwnWorker {
    this.#isBroken = false;
    const { name, fallback, changesLimit, workerUrl, wasmUrl } = this.#options;
    const { session, durability, epoch } = this.#listener;
    const { port1, port2 } = new MessageChannel();
    const worker = startOwnWorker(
      { name, session, workerUrl },
      {
        notice: (notice) => this.#listener.notice(notice, port1),
        broken: (error) => {
          this.#isBroken = true;
          this.#listener.broken(error);
        },
        uncaught: (message) => this.#listener.uncaught(message),
        died: () => {
          worker.terminate();
          this.#worker = this.#startWorker();
          this.#listener.replaced();
        },
      },
    );
    const start: WorkerCommand = {
      type: "start",
      name,
      session,
      durability: durability(),
      fallback: fallback ?? null,
      changesLimit: changesLimit ?? null,
      wasmUrl: wasmUrl === undefined ? null : new URL(wasmUrl, location.href).href,
      epoch: epoch(),
    };
    worker.send(start, [port2]);
    return worker;
  }
}
