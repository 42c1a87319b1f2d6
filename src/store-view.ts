/**
 * What one client knows of the database, and how it finds out more.
 *
 * Owns: the cache, the position in the change feed, and who waits for which store.
 * Does not own: what callers compute (cas-store-client.ts), how waits end (observation.ts), the connection.
 *
 * V1  What a reply says is in the cache, and told to who waits, before whoever made the call hears of it.
 * V2  A store has at most one reading under way; all who need one share it. A change that nobody waits for is not read.
 * V3  A wait looks again only after a change, later than what it saw, that intersects what it read.
 * V4  A reading that was sent after a hint is the truth, whatever the hint said: a forged or mistaken one costs one
 *     reading.
 */
import { abortError, throwIfAborted } from "./abort.js";
import { ChangeFollower } from "./change-follower.js";
import type { Clock } from "./clock.js";
import type { StoreDefinition } from "./define-store.js";
import type { Change, StoreKey } from "./protocol/change.js";
import type { CommitOperation, CommitOutcome, StoreConnector, StoredSnapshot } from "./protocol/connector.js";
import { ClosedError, fromWire, NoOwnerError, OwnerUnresponsiveError } from "./protocol/errors.js";
import type { StoreEvent } from "./protocol/events.js";
import { anyPathsIntersect, type StorePath } from "./protocol/path.js";
import { type CacheEntry, keyText, StoreCache } from "./store-cache.js";
import { pathsOf, toStoreChange } from "./store-change.js";
import type { StoreEvents } from "./store-events.js";
import { initialState, readState, writeState } from "./stored-state.js";

/** Something that waits for a store to change where it looked. */
export interface Wait {
  /** The sequence as of which it looked. */
  seen: number;
  readPaths: readonly StorePath[];
  /** A change at `sequence` may concern it. */
  wake(sequence: number): void;
}

/** What bounds a wait. */
export interface Limit {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  end(): void;
}

/** One operation of a commit, and what the store is once it is written. */
export interface Write {
  readonly entry: CacheEntry;
  readonly operation: CommitOperation;
  readonly after: StoredSnapshot | null;
  readonly changedPaths: readonly StorePath[];
  /** Of UTF-8, if the state is large enough to be warned of. */
  readonly largeBytes?: number;
}

export interface StoreViewOptions {
  readonly clock: Clock;
  /** Milliseconds between two looks at the feed while anybody waits. */
  readonly sweepInterval: number;
  readonly events: StoreEvents;
}

export class StoreView {
  readonly connector: StoreConnector;
  readonly clock: Clock;
  readonly events: StoreEvents;
  readonly follower: ChangeFollower;
  readonly cache: StoreCache = new StoreCache();
  readonly #waits = new Map<string, Set<Wait>>();
  readonly #initials = new WeakMap<object, Map<string, unknown>>();
  readonly #closing = new AbortController();
  readonly #limits = new Set<AbortController>();
  readonly #unsubscribe: () => void;

  constructor(connector: StoreConnector, { clock, sweepInterval, events }: StoreViewOptions) {
    this.connector = connector;
    this.clock = clock;
    this.events = events;
    const onError = (error: unknown): void => {
      if (!isOwnerLoss(error) && !this.closed.aborted) events.fail(error);
    };
    this.follower = new ChangeFollower(connector, { clock, sweepInterval, onError });
    this.follower.listen({
      changes: (changes) => this.#hearChanges(changes),
      skipped: (head) => {
        this.cache.doubtAll(head);
        this.#wakeAll(head);
      },
      replaced: () => {
        this.cache.clear();
        for (const waits of this.#waits.values()) for (const wait of waits) wait.seen = -1;
        this.#wakeAll(0);
      },
    });
    this.#unsubscribe = connector.subscribe((event) => this.#hear(event));
  }

  /** Aborts, with a ClosedError, when this client is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  close(): void {
    this.#closing.abort(new ClosedError("These stores were closed. Open them again with openStores."));
    for (const limit of this.#limits) limit.abort(this.closed.reason);
    this.#unsubscribe();
  }

  /**
   * What bounds a wait: it aborts when `signal` does or this client is closed. Until its end the feed is swept.
   *
   * @throws AbortedError, ClosedError if that has happened already
   */
  limit(signal: AbortSignal | undefined): Limit {
    throwIfAborted(this.closed);
    throwIfAborted(signal);
    const controller = new AbortController();
    const release = this.follower.hold();
    const onAbort = (): void => controller.abort(signal && abortError(signal));
    signal?.addEventListener("abort", onAbort);
    this.#limits.add(controller);
    return {
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
      end: () => {
        release();
        signal?.removeEventListener("abort", onAbort);
        this.#limits.delete(controller);
      },
    };
  }

  /** Reads the store unless that is under way. Who joins may get what is older than its call. */
  read(entry: CacheEntry): Promise<void> {
    const run: Promise<void> = (entry.reading ??= this.#read(entry).finally(() => {
      entry.reading = undefined;
    }));
    return run;
  }

  /** Reads the store as of now or later. */
  readAnew(entry: CacheEntry): Promise<void> {
    if (entry.reading === undefined) return this.read(entry);
    entry.nextReading ??= entry.reading
      .catch(() => undefined)
      .then(() => {
        entry.nextReading = undefined;
        return this.read(entry);
      });
    return entry.nextReading;
  }

  /** Brings the entry up to `sequence`, or as far as the store has come (V4). */
  async bringUp(entry: CacheEntry, sequence: number): Promise<void> {
    const needed = Math.max(sequence, 0);
    await entry.committing;
    if (entry.sequence < needed) await entry.reading;
    if (entry.sequence < needed) await this.readAnew(entry);
  }

  async #read(entry: CacheEntry): Promise<void> {
    const { generation } = this.cache;
    const { hints } = entry;
    const { sequence, snapshot } = await this.connector.readStore(entry.key);
    // It may be of the database before; what counts is the present one.
    if (generation !== this.cache.generation) return this.#read(entry);
    this.follower.begin(sequence);
    this.cache.apply(entry, sequence, snapshot);
    if (entry.hints === hints) entry.heard = Math.min(entry.heard, entry.sequence);
    // Of two first readings the older may answer last: changes between them were never told.
    if (sequence < this.follower.start) entry.heard = Math.max(entry.heard, this.follower.start);
  }

  /** Sends one commit, and notes what its outcome says about each store (V1). */
  async commit(writes: readonly Write[], signal?: AbortSignal): Promise<CommitOutcome> {
    const { generation } = this.cache;
    const sent = this.connector.commit(
      { operations: writes.map(({ operation }) => operation) },
      signal === undefined ? {} : { signal },
    );
    const committing = sent.catch(() => undefined);
    for (const { entry } of writes) entry.committing = committing;
    try {
      const outcome = await sent;
      if (generation === this.cache.generation) this.#note(writes, outcome);
      return outcome;
    } catch (error) {
      // It may have been applied: what is known is no longer certain.
      for (const { entry } of writes) this.cache.doubt(entry, entry.sequence + 1);
      throw error;
    } finally {
      for (const { entry } of writes) if (entry.committing === committing) entry.committing = undefined;
    }
  }

  #note(writes: readonly Write[], outcome: CommitOutcome): void {
    const { sequence } = outcome;
    this.follower.begin(sequence);
    for (const [index, { entry, after }] of writes.entries()) {
      if (outcome.status === "committed") this.cache.apply(entry, sequence, after);
      else {
        const verdict = outcome.verdicts[index];
        if (verdict?.status === "conflict") this.cache.apply(entry, sequence, verdict.current);
        if (verdict?.status === "missing") this.cache.apply(entry, sequence, null);
      }
    }
    if (outcome.status !== "committed") return;
    for (const { entry, changedPaths } of writes) this.#wake(entry.key, sequence, () => changedPaths);
  }

  /** The state that a wait sees: the present one, or the initial one of a missing store. */
  stateOf<State>(definition: StoreDefinition<State>, entry: CacheEntry): State | Promise<State> {
    return entry.snapshot === null
      ? this.initialOf(definition, entry.key.storeId)
      : readState(definition, entry.snapshot);
  }

  /** The initial state, made and validated once, for those who wait and do not create. */
  initialOf<State>(definition: StoreDefinition<State>, id: string): State | Promise<State> {
    const initials = this.#initials.get(definition) ?? new Map<string, unknown>();
    this.#initials.set(definition, initials);
    // The casts: under a definition are states of that definition.
    if (initials.has(id)) return initials.get(id) as State | Promise<State>;
    const keep = (text: { readonly canonical: string }): State => {
      const state: State = JSON.parse(text.canonical);
      initials.set(id, state);
      return state;
    };
    const base = initialState(definition, id);
    const written = writeState(definition, { base, next: base, changedPaths: [] });
    if (!(written instanceof Promise)) return keep(written);
    const state = written.then(keep);
    initials.set(id, state);
    state.catch(() => initials.delete(id));
    return state;
  }

  /** Adds a wait until the function returned is called. Its entry must be pinned. */
  addWait(entry: CacheEntry, wait: Wait): () => void {
    const key = keyText(entry.key);
    const waits = this.#waits.get(key) ?? new Set();
    this.#waits.set(key, waits.add(wait));
    return () => {
      waits.delete(wait);
      if (waits.size === 0 && this.#waits.get(key) === waits) this.#waits.delete(key);
    };
  }

  #hear(event: StoreEvent): void {
    switch (event.type) {
      case "commit":
        return this.follower.hearCommit(event);
      case "owner":
        this.follower.hearOwner(event);
        return this.events.owner(event);
      case "wake":
        return this.events.emit("wake", () => event);
      case "storage":
        return this.events.storage(event);
      case "error": {
        const error = fromWire(event.error);
        if (!this.events.isOutdated(error)) this.events.fail(error);
      }
    }
  }

  #hearChanges(changes: readonly Change[]): void {
    for (const change of changes) this.cache.hear(change);
    for (const change of changes) {
      this.#wake(change, change.sequence, () => (change.deleted ? ROOT : pathsOf(change.changedPaths)));
    }
    this.events.emit("commit", () => ({ changes: changes.map(toStoreChange) }));
  }

  #wake(key: StoreKey, sequence: number, changedPaths: () => readonly StorePath[]): void {
    const waits = [...(this.#waits.get(keyText(key)) ?? [])].filter((wait) => wait.seen < sequence);
    if (waits.length === 0) return;
    const changed = changedPaths();
    for (const wait of waits) if (anyPathsIntersect(changed, wait.readPaths)) wait.wake(sequence);
  }

  #wakeAll(sequence: number): void {
    for (const waits of this.#waits.values()) {
      for (const wait of [...waits]) if (wait.seen < sequence) wait.wake(sequence);
    }
  }
}

const ROOT: readonly StorePath[] = [[]];

/** Whether a call failed for want of an owner and was certainly not applied: it may be tried again at the next one. */
export function isOwnerLoss(error: unknown): boolean {
  return (
    error instanceof NoOwnerError || (error instanceof OwnerUnresponsiveError && error.details["outcome"] !== "unknown")
  );
}
