/**
 * Which worker answers this session, and what happens when another one does.
 *
 * Owns: the session and its lock, the page's own worker, the link to the present owner, the event channel.
 * Does not own: what is computed and cached (cas-store-client.ts), the calls in flight (pending-calls.ts), the database.
 *
 * N1  At most one link counts: that of the highest epoch heard of. What comes from an earlier epoch is dropped.
 * N2  A call never hangs: while calls wait, every tick asks for the owner again (pending-calls.ts P1).
 * N3  The session's lock is held before the owner first hears of the session; otherwise the owner would think it dead.
 * N4  Subscribers hear of an owner before anything that this owner says, and only once calls can reach it.
 * N5  A failure to open ends what waits for it, and is no verdict for ever: the next call tries again.
 */
import {
  ClientOutdatedError,
  ClosedError,
  fromWire,
  StorageUnavailableError,
  toWire,
  type WakefulError,
} from "../protocol/errors.js";
import type { Durability, StoreEvent } from "../protocol/events.js";
import {
  type CallMethod,
  type ChannelMessage,
  type OwnerMessage,
  PROTOCOL_VERSION,
  VERSIONS,
  type WorkerNotice,
} from "../protocol/wire.js";
import { type EventChannel, openEventChannel, openSessionChannel } from "./broadcast.js";
import { type BrokerClient, openBroker } from "./broker-client.js";
import { type CallLink, joinLinks, type MessageEndpoint, openCallLink } from "./call-link.js";
import { type OwnWorker, startOwnWorker } from "./own-worker.js";
import { PendingCalls } from "./pending-calls.js";
import { holdSessionLock } from "./session-lock.js";

/** Milliseconds between two looks at calls that wait. */
const TICK = 500;
/** Milliseconds after which a page that does not own prepares its worker for taking over. */
const WARM_AFTER = 1000;
/** Milliseconds that closing waits for the worker to give the database up by itself. */
const STOP_WITHIN = 2000;

export interface ConnectionOptions {
  readonly name: string;
  readonly durability: Durability;
  readonly fallback: "memory" | undefined;
  /** Milliseconds a call waits for an owner, or for an owner that does not answer. */
  readonly ownerTimeout: number;
  readonly changesLimit: number | undefined;
  readonly workerUrl: string | URL | undefined;
  readonly brokerUrl: string | URL | undefined;
  readonly wasmUrl: string | URL | undefined;
  /** "broadcast" leaves the broker out. */
  readonly transport: "port" | "broadcast";
}

/** Everything that lives between `begin` and `suspend`. */
interface Presence {
  readonly events: EventChannel;
  readonly broker: BrokerClient | null;
  readonly releaseSession: () => void;
  worker: OwnWorker;
}

export class Connection {
  readonly session: string = crypto.randomUUID();
  /** Messages dropped because they were not of the protocol, or came from an earlier owner. */
  dropped = 0;
  #durability: Durability;
  readonly #options: ConnectionOptions;
  readonly #pending: PendingCalls;
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  #presence: Presence | null = null;
  /** Counts beginnings and suspensions: what an earlier one awaited is void. */
  #turn = 0;
  #beginning: Promise<void> | null = null;
  #link: CallLink | null = null;
  #owner: OwnerMessage | null = null;
  #epoch = 0;
  #failure: WakefulError | null = null;
  #closed = false;
  /** Newest sequence heard of while there was no link: subscribers learn of it with the owner (N4). */
  #missed = 0;
  #silentTicks = 0;
  #ticking: ReturnType<typeof setInterval> | null = null;
  #warming: ReturnType<typeof setTimeout> | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#durability = options.durability;
    this.#pending = new PendingCalls(this.session);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Takes this session's place: lock, channel, worker. Idempotent until `suspend`. */
  begin(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#beginning ??= this.#takePlace(++this.#turn);
    return this.#beginning;
  }

  async #takePlace(turn: number): Promise<void> {
    const { name, transport, brokerUrl } = this.#options;
    const releaseSession = await holdSessionLock(name, this.session); // N3
    if (turn !== this.#turn) return releaseSession();
    const events = openEventChannel(
      name,
      (message) => this.#receive(message),
      () => this.#drop(),
    );
    const broker =
      transport === "port"
        ? openBroker(name, brokerUrl, (session, epoch, port) =>
            this.#presence?.worker.send({ type: "link", session, epoch }, [port]),
          )
        : null;
    this.#presence = { events, broker, releaseSession, worker: this.#startWorker() };
    this.#hello();
  }

  /** Gives up everything that another tab could wait for, at once. Calls in flight are as after the loss of an owner. */
  suspend(): void {
    this.#turn += 1;
    this.#beginning = null;
    const presence = this.#presence;
    if (presence === null) return;
    this.#presence = null;
    this.#loseLink("returning");
    presence.worker.terminate();
    presence.broker?.close();
    presence.events.close();
    presence.releaseSession();
    if (this.#warming !== null) clearTimeout(this.#warming);
    this.#warming = null;
  }

  call(method: CallMethod, body: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#closed) return Promise.reject(closedError());
    const outcome = this.#pending.add(method, body, signal);
    if (this.#failure !== null) this.#retry();
    if (this.#link !== null) this.#pending.send(this.#link);
    this.#watchCalls();
    return outcome;
  }

  /** What a subscriber that comes now has missed and still holds: who owns, and that nothing is durable. */
  standing(): StoreEvent[] {
    return this.#link === null || this.#owner === null ? [] : introductionOf(this.#owner);
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  setDurability(durability: Durability): void {
    if (durability === this.#durability) return;
    this.#durability = durability;
    this.#hello();
  }

  /** Settles what is in flight, then leaves. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending.fail(closedError(), "unsent");
    await this.#pending.settled(); // P1 bounds this.
    await this.#leave();
    await this.#presence?.worker.stop(STOP_WITHIN);
    this.suspend();
    this.#stopTicking();
    this.#listeners.clear();
  }

  /** Lets the owner forget what this session has committed. Should the owner be lost now, it forgets it later. */
  async #leave(): Promise<void> {
    if (this.#link === null) return;
    const left = this.#pending.add("leave", null, undefined).catch(() => undefined);
    this.#pending.send(this.#link);
    await Promise.race([left, new Promise((resolve) => setTimeout(resolve, STOP_WITHIN))]);
  }

  #startWorker(): OwnWorker {
    const { name, fallback, changesLimit, workerUrl, wasmUrl } = this.#options;
    const { port1, port2 } = new MessageChannel();
    const worker = startOwnWorker(
      { name, session: this.session, workerUrl },
      {
        notice: (notice) => this.#onNotice(notice, port1),
        broken: (error) => this.#fail(error),
        uncaught: (message) => this.#emit({ type: "error", error: { code: "unexpected", message, details: {} } }),
        died: () => this.#onWorkerDeath(),
      },
    );
    worker.send(
      {
        type: "start",
        name,
        session: this.session,
        durability: this.#durability,
        fallback: fallback ?? null,
        changesLimit: changesLimit ?? null,
        wasmUrl: wasmUrl === undefined ? null : new URL(wasmUrl, location.href).href,
        epoch: this.#epoch,
      },
      [port2],
    );
    return worker;
  }

  #onNotice(notice: Exclude<WorkerNotice, { type: "stopped" }>, port: MessagePort): void {
    if (notice.type === "owner") this.#meetOwner(notice, () => port);
    else if (notice.type === "failed") this.#fail(fromWire(notice.error));
  }

  #onWorkerDeath(): void {
    const presence = this.#presence;
    if (presence === null || this.#closed) return;
    presence.worker.terminate();
    if (this.#owner?.host === this.session) this.#loseLink();
    presence.worker = this.#startWorker();
  }

  #receive(message: ChannelMessage): void {
    if (message.type === "hello") return;
    if (message.epoch < this.#epoch) return this.#drop(); // N1
    this.#silentTicks = 0;
    switch (message.type) {
      case "owner":
        if (message.host === this.session) return; // Its own worker tells it the same, together with the port.
        if (message.to === this.session)
          this.#meetOwner(message, () => openSessionChannel(this.#options.name, this.session));
        else if (message.epoch > this.#epoch || this.#link === null) {
          this.#noteEpoch(message.epoch);
          this.#hello();
        }
        return;
      case "refusal":
        if (message.to === this.session) this.#fail(fromWire(message.error));
        return;
      case "commit":
      case "wake":
      case "storage":
        // From an owner that this session has not met: its answer to hello brings what was missed (N4).
        if (message.epoch === this.#epoch && this.#link !== null) return this.#emit(message);
        if (message.type === "commit") this.#missed = Math.max(this.#missed, message.changes.at(-1)?.sequence ?? 0);
        this.#hello();
    }
  }

  /** An owner that answers this session. `open` makes the endpoint, if this owner is a new one. */
  #meetOwner(owner: OwnerMessage, open: () => MessageEndpoint): void {
    if (this.#presence === null || owner.epoch < this.#epoch) return this.#drop();
    if (this.#link?.epoch === owner.epoch) return;
    if (owner.versions.protocol !== PROTOCOL_VERSION) {
      return this.#fail(new ClientOutdatedError("Another tab runs a newer build of this app. Reload this one."));
    }
    if (owner.storage.kind === "memory" && this.#options.fallback !== "memory") {
      return this.#fail(
        new StorageUnavailableError(
          `The open tab that serves this database keeps it in memory only (${owner.storage.reason}). Pass fallback: "memory" to accept that.`,
          { reason: "unsupported" },
        ),
      );
    }
    this.#noteEpoch(owner.epoch);
    const previous = this.#owner;
    this.#owner = owner;
    this.#failure = null;
    const link = openCallLink(open(), owner.epoch, () => this.#drop());
    this.#link = link;
    if (previous !== null && previous.databaseId !== owner.databaseId) this.#pending.voidSent();
    this.#pending.send(link);
    if (previous !== null && previous.databaseId !== owner.databaseId) this.#emit(lossOf(previous, owner.epoch));
    for (const event of introductionOf({ ...owner, sequence: Math.max(owner.sequence, this.#missed) }))
      this.#emit(event);
    this.#missed = 0;
    if (owner.host === this.session) this.#presence.broker?.host(owner.epoch);
    else {
      this.#upgrade(owner.epoch);
      this.#warmSoon();
    }
  }

  /** Moves calls from the BroadcastChannel to a brokered port, as soon as one answers. */
  #upgrade(epoch: number): void {
    const broker = this.#presence?.broker;
    if (broker === undefined || broker === null) return;
    const slow = this.#link;
    const fast = openCallLink(broker.connect(epoch, this.session), epoch, () => this.#drop());
    fast
      .call({
        session: this.session,
        number: 0,
        acknowledged: 0,
        attempt: "first",
        epoch,
        method: "describe",
        body: null,
      })
      .then(
        () => {
          if (this.#link === slow && slow !== null) this.#link = joinLinks(fast, slow);
          else fast.close();
        },
        () => fast.close(),
      );
  }

  #noteEpoch(epoch: number): void {
    if (epoch <= this.#epoch) return;
    this.#epoch = epoch;
    this.#loseLink();
    this.#silentTicks = 0;
    this.#presence?.worker.send({ type: "heard", epoch });
  }

  #loseLink(attempt: "again" | "returning" = "again"): void {
    this.#link?.close();
    this.#link = null;
    this.#pending.lose(attempt);
  }

  #fail(error: WakefulError): void {
    this.#failure = error;
    this.#loseLink();
    this.#pending.fail(error);
    this.#emit({ type: "error", error: toWire(error) }); // Without a call in flight nobody else would say it.
  }

  #retry(): void {
    this.#failure = null;
    this.#presence?.worker.send({ type: "retry" });
    this.#hello();
  }

  #hello(): void {
    this.#presence?.events.post({
      type: "hello",
      versions: VERSIONS,
      session: this.session,
      durability: this.#durability,
      changesLimit: this.#options.changesLimit ?? null,
    });
  }

  #warmSoon(): void {
    this.#warming ??= setTimeout(() => this.#presence?.worker.send({ type: "warm" }), WARM_AFTER);
  }

  #watchCalls(): void {
    this.#ticking ??= setInterval(() => {
      this.#silentTicks += 1;
      const limit = Math.max(1, Math.ceil(this.#options.ownerTimeout / TICK));
      const { waiting, stuck } = this.#pending.tick(limit, this.#silentTicks >= limit);
      if (!waiting) return this.#stopTicking();
      if (stuck) this.#relink();
      this.#hello();
    }, TICK);
  }

  /** The owner is there, but a call or its reply was lost on the way: what waits is sent again, by another way. */
  #relink(): void {
    const link = this.#link;
    if (link === null || this.#owner?.host !== this.session) return this.#loseLink();
    this.#pending.lose("again"); // There is no other way to the page's own worker.
    this.#pending.send(link);
  }

  #stopTicking(): void {
    if (this.#ticking !== null) clearInterval(this.#ticking);
    this.#ticking = null;
    this.#silentTicks = 0;
  }

  #drop(): void {
    this.dropped += 1;
  }

  #emit(event: StoreEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

function introductionOf({ epoch, host, databaseId, sequence, storage }: OwnerMessage): StoreEvent[] {
  const introduction: StoreEvent = { type: "owner", epoch, host, databaseId, sequence, storage: storage.kind };
  if (storage.kind !== "memory") return [introduction];
  return [{ type: "storage", epoch, status: "fallback", reason: storage.reason }, introduction];
}

function lossOf(previous: OwnerMessage, epoch: number): StoreEvent {
  const reason =
    previous.storage.kind === "memory"
      ? "The tab that kept the database in memory is gone, and the data with it."
      : "The database that was open before is gone: the browser or the user removed this site's data.";
  return { type: "storage", epoch, status: "lost", reason };
}

function closedError(): ClosedError {
  return new ClosedError("These stores were closed. Open them again with openStores.");
}
