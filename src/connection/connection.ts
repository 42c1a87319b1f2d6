/**
 * Which worker answers this session, and what happens when another one does.
 *
 * Owns: the link to the present owner, and what is known of that owner.
 * Does not own: the session's place among the tabs (presence.ts), the calls in flight (pending-calls.ts), what is
 * computed and cached (cas-store-client.ts), the database.
 *
 * N1  At most one link counts: that of the highest epoch heard of. What comes from an earlier epoch is dropped.
 * N2  A call never hangs: while calls wait, every tick asks for the owner again (pending-calls.ts P1).
 * N4  Subscribers hear of an owner before anything that this owner says, and only once calls can reach it.
 * N5  A failure to open ends what waits for it, and is no verdict for ever: the next call tries again.
 * N6  Beside a newer build that it cannot live with, this session is at its end: every call is refused, and it never
 *     stands in the way of that build again.
 */
import { type ForeignMessage, outdatedBuild } from "../protocol/builds.js";
import {
  ClientOutdatedError,
  ClosedError,
  fromWire,
  StorageUnavailableError,
  toWire,
  type WakefulError,
} from "../protocol/errors.js";
import type { Durability, StoreEvent } from "../protocol/events.js";
import { lineOf } from "../protocol/transfer.js";
import type { CallMethod, ChannelMessage, OwnerMessage, WorkerNotice } from "../protocol/wire.js";
import { openSessionChannel } from "./broadcast.js";
import { type CallLink, joinLinks, type MessageEndpoint, openCallLink } from "./call-link.js";
import { markDatabase } from "./database-marker.js";
import { PendingCalls } from "./pending-calls.js";
import { Presence, type PresenceListener, type PresenceOptions } from "./presence.js";

/** Milliseconds between two looks at calls that wait. */
const TICK = 500;
/** Milliseconds that closing waits for the owner to forget the session, and for the worker to give the database up. */
const STOP_WITHIN = 2000;

export interface ConnectionOptions extends PresenceOptions {
  readonly durability: Durability;
  /** Milliseconds a call waits for an owner, or for an owner that does not answer. */
  readonly ownerTimeout: number;
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
  /** What was lost when the present owner, or one before it, was met. */
  #loss: StoreEvent | null = null;
  #failure: WakefulError | null = null;
  /** No new call is taken. */
  #closed = false;
  /** Everything is settled, too. */
  #left = false;
  /** Newest sequence heard of while there was no link: subscribers learn of it with the owner (N4). */
  #missed = 0;
  #silentTicks = 0;
  #ticking: ReturnType<typeof setInterval> | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#durability = options.durability;
    this.#pending = new PendingCalls(this.session);
  }

  /** Takes this session's place among the tabs. Idempotent until `suspend`. */
  begin(): Promise<void> {
    // While it closes it comes back as well: what is in flight has an outcome to wait for.
    if (this.#left || this.#isOutdated) return Promise.resolve();
    this.#beginning ??= this.#takePlace(++this.#turn);
    return this.#beginning;
  }

  async #takePlace(turn: number): Promise<void> {
    const ifPresent =
      <Heard extends unknown[]>(hear: (...heard: Heard) => void) =>
      (...heard: Heard): void => {
        if (turn === this.#turn) hear(...heard);
      };
    const listener: PresenceListener = {
      session: this.session,
      durability: () => this.#durability,
      epoch: () => this.#epoch,
      receive: ifPresent((message) => this.#receive(message)),
      foreign: ifPresent((message) => this.#meetForeign(message)),
      drop: () => this.#drop(),
      notice: ifPresent((notice, port) => this.#onNotice(notice, port)),
      broken: ifPresent((error) => this.#fail(error)),
      uncaught: (message) => this.#emit({ type: "error", error: { code: "unexpected", message, details: {} } }),
      replaced: ifPresent(() => {
        if (this.#owner?.host === this.session) this.#loseLink();
      }),
    };
    const presence = await Presence.take(this.#options, listener);
    if (turn !== this.#turn) return presence.release();
    this.#presence = presence;
    presence.hello();
  }

  /** Gives this session's place up, at once. Calls in flight are as after the loss of an owner. */
  suspend(): void {
    this.#turn += 1;
    this.#beginning = null;
    const presence = this.#presence;
    if (presence === null) return;
    this.#presence = null;
    this.#loseLink("returning");
    presence.release();
  }

  call(method: CallMethod, body: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#closed) return Promise.reject(closedError());
    if (this.#isOutdated) return Promise.reject(outdatedBuild());
    const outcome = this.#pending.add(method, body, signal);
    if (this.#failure !== null) this.#retry();
    if (this.#link !== null) this.#pending.send(this.#link);
    this.#watchCalls();
    return outcome;
  }

  /** What a subscriber that comes now has missed and still holds: who owns, what was lost, and that nothing is durable. */
  standing(): StoreEvent[] {
    if (this.#link === null || this.#owner === null) return [];
    return [...(this.#loss === null ? [] : [this.#loss]), ...introductionOf(this.#owner)];
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  setDurability(durability: Durability): void {
    if (durability === this.#durability) return;
    this.#durability = durability;
    this.#presence?.hello();
  }

  /** Settles what is in flight, then leaves. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending.fail(closedError(), "unsent");
    await this.#pending.settled(); // P1 bounds this.
    await this.#leave();
    await this.#presence?.stopWorker(STOP_WITHIN);
    this.#left = true;
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

  get #isOutdated(): boolean {
    return this.#failure instanceof ClientOutdatedError;
  }

  #onNotice(notice: Exclude<WorkerNotice, { type: "stopped" }>, port: MessagePort): void {
    if (notice.type === "owner") this.#meetOwner(notice, () => port);
    else if (notice.type === "failed") this.#fail(fromWire(notice.error));
  }

  #receive(message: ChannelMessage): void {
    if (message.type === "hello") return;
    if (message.epoch < this.#epoch) return this.#drop(); // N1
    this.#silentTicks = 0;
    if (message.type === "owner") return this.#hearOwner(message);
    if (message.epoch === this.#epoch && this.#link !== null) return this.#emit(message);
    // From an owner that this session has not met: its answer to hello brings what was missed (N4).
    if (message.type === "commit") this.#missed = Math.max(this.#missed, message.changes.at(-1)?.sequence ?? 0);
    this.#presence?.hello();
  }

  #hearOwner(message: OwnerMessage): void {
    if (message.host === this.session) return; // Its own worker tells it the same, together with the port.
    if (message.to === this.session) {
      return this.#meetOwner(message, () => openSessionChannel(this.#options.name, this.session));
    }
    if (message.epoch <= this.#epoch && this.#link !== null) return;
    this.#noteEpoch(message.epoch);
    this.#presence?.hello();
  }

  /** A build that cannot live beside this one. An older one gives up by itself once it hears of this one's hello. */
  #meetForeign({ type, build }: ForeignMessage): void {
    if (type === "owner" && build === "newer") this.#becomeOutdated();
  }

  /** The owner gave up for a newer build: what it has not answered by now was not applied. */
  #retire(error: WakefulError): void {
    this.#pending.fail(error, "unapplied");
    this.#becomeOutdated();
  }

  #becomeOutdated(): void {
    if (this.#isOutdated) return;
    this.#fail(outdatedBuild());
    this.#presence?.dropWorker(); // N6
  }

  /** An owner that answers this session. `open` makes the endpoint, if this owner is a new one. */
  #meetOwner(owner: OwnerMessage, open: () => MessageEndpoint): void {
    const presence = this.#presence;
    if (presence === null || this.#isOutdated || owner.epoch < this.#epoch) return this.#drop();
    if (this.#link?.epoch === owner.epoch) return;
    if (owner.storage.kind === "memory" && this.#options.fallback !== "memory") {
      return this.#fail(notDurable(owner.storage.reason));
    }
    this.#noteEpoch(owner.epoch);
    const previous = this.#owner;
    this.#owner = owner;
    this.#failure = null;
    const link = this.#openLink(open(), owner.epoch);
    this.#link = link;
    const wasMarked = owner.storage.kind === "opfs" && markDatabase(this.#options.name, owner.databaseId);
    const isLost = previous !== null && lineOf(previous.databaseId) !== lineOf(owner.databaseId);
    if (isLost) this.#pending.voidSent();
    this.#pending.send(link);
    if (isLost || wasMarked) {
      this.#loss = lossOf(previous, owner.epoch);
      this.#emit(this.#loss);
    }
    for (const event of introductionOf({ ...owner, sequence: Math.max(owner.sequence, this.#missed) })) {
      this.#emit(event);
    }
    this.#missed = 0;
    if (owner.host === this.session) return presence.host(owner.epoch);
    this.#upgrade(presence.port(owner.epoch), link);
    presence.warmSoon();
  }

  #openLink(endpoint: MessageEndpoint, epoch: number): CallLink {
    return openCallLink(endpoint, epoch, {
      drop: () => this.#drop(),
      retire: (error) => {
        if (this.#link?.epoch === epoch && this.#link.isRetired) this.#retire(error);
      },
    });
  }

  /** Moves calls from the BroadcastChannel to a brokered port, as soon as one answers. */
  #upgrade(port: MessagePort | undefined, slow: CallLink): void {
    if (port === undefined) return;
    const { epoch } = slow;
    const fast = this.#openLink(port, epoch);
    const { session } = this;
    fast.call({ session, number: 0, acknowledged: 0, attempt: "first", epoch, method: "describe", body: null }).then(
      () => {
        if (this.#link === slow && !fast.isRetired) this.#link = joinLinks(fast, slow);
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
    this.#presence?.send({ type: "heard", epoch });
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
    this.#presence?.retry();
    this.#presence?.hello();
  }

  #watchCalls(): void {
    this.#ticking ??= setInterval(() => {
      this.#silentTicks += 1;
      const limit = Math.max(1, Math.ceil(this.#options.ownerTimeout / TICK));
      const { waiting, stuck } = this.#pending.tick(limit, this.#silentTicks >= limit);
      if (!waiting) return this.#stopTicking();
      if (stuck) this.#relink();
      this.#presence?.hello();
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
  const owner: StoreEvent = { type: "owner", epoch, host, databaseId, sequence, storage: storage.kind };
  if (storage.kind === "opfs") return [owner];
  return [{ type: "storage", epoch, status: "fallback", reason: storage.reason }, owner];
}

function lossOf(previous: OwnerMessage | null, epoch: number): StoreEvent {
  const reason =
    previous?.storage.kind === "memory"
      ? "The tab that kept the database in memory is gone, and the data with it."
      : "The database that was here before is gone: the browser or the user removed this site's data.";
  return { type: "storage", epoch, status: "lost", reason };
}

function notDurable(reason: string): StorageUnavailableError {
  return new StorageUnavailableError(
    `The open tab that serves this database keeps it in memory only (${reason}). Pass fallback: "memory" to accept that.`,
    { reason: "unsupported" },
  );
}

function closedError(): ClosedError {
  return new ClosedError("These stores were closed. Open them again with openStores.");
}
