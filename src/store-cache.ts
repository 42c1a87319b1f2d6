/**
 * The newest snapshot of each store that this client knows.
 *
 * Owns: snapshots, the sequence as of which each is known, and what was heard of a store since.
 * Does not own: how they are read (store-view.ts), the position in the feed (change-follower.ts), who waits.
 *
 * K1  What is known as of an older sequence never replaces what is known as of a newer one, also across deletion and
 *     recreation.
 * K2  A store is current while nothing newer was heard of it. Hearing of a change does not read it.
 * K3  Bounded: what nobody observes is dropped, the longest unused first.
 */
import type { Change, StoreKey } from "./protocol/change.js";
import type { StoredSnapshot } from "./protocol/connector.js";

/** How many stores that nobody observes are kept, and the characters that their states may have together. */
const MAX_ENTRIES = 1000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

export interface CacheEntry {
  readonly key: StoreKey;
  /** `null`: missing. Means nothing while `sequence` is -1. */
  snapshot: StoredSnapshot | null;
  /** As of which sequence `snapshot` is known; -1: never read. */
  sequence: number;
  /** The newest sequence at which this store may have changed, as far as was heard. */
  heard: number;
  /** How often it was heard of. Two hints may name one sequence, and only one of them be older than a reading. */
  hints: number;
  /** How many observe it: it is not dropped. */
  pins: number;
  /** The reading that is under way, and the one that begins after it. */
  reading?: Promise<void> | undefined;
  nextReading?: Promise<void> | undefined;
  /** This client's own commit that is under way; never rejects. */
  committing?: Promise<unknown> | undefined;
}

/** NUL cannot occur in a name or an id, so that no two stores share a key. */
export function keyText({ storeName, storeId }: StoreKey): string {
  return `${storeName}\0${storeId}`;
}

export class StoreCache {
  /** Pinned entries, never dropped. */
  readonly #observed = new Map<string, CacheEntry>();
  /** The others, the least recently used first. */
  readonly #idle = new Map<string, CacheEntry>();
  /** In the states of idle entries. */
  #characters = 0;
  /** Raised when all is forgotten: a reply to what was asked before that is not applied. */
  generation = 0;

  /** The store's entry, pinned until `unpin`. */
  pin(key: StoreKey): CacheEntry {
    const text = keyText(key);
    const { storeName, storeId } = key;
    const entry = this.find(key) ?? {
      key: { storeName, storeId },
      snapshot: null,
      sequence: -1,
      heard: -1,
      hints: 0,
      pins: 0,
    };
    if (this.#idle.delete(text)) this.#characters -= sizeOf(entry);
    this.#observed.set(text, entry);
    entry.pins += 1;
    return entry;
  }

  unpin(entry: CacheEntry): void {
    entry.pins -= 1;
    if (entry.pins > 0) return;
    const text = keyText(entry.key);
    this.#observed.delete(text);
    this.#idle.set(text, entry);
    this.#characters += sizeOf(entry);
    for (const [oldest, dropped] of this.#idle) {
      if (this.#idle.size <= MAX_ENTRIES && this.#characters <= MAX_CHARACTERS) break;
      this.#idle.delete(oldest);
      this.#characters -= sizeOf(dropped);
    }
  }

  find(key: StoreKey): CacheEntry | undefined {
    const text = keyText(key);
    return this.#observed.get(text) ?? this.#idle.get(text);
  }

  isCurrent(entry: CacheEntry): boolean {
    return entry.sequence >= 0 && entry.sequence >= entry.heard;
  }

  /** Notes a snapshot as of `sequence` (K1). */
  apply(entry: CacheEntry, sequence: number, snapshot: StoredSnapshot | null): void {
    if (sequence < entry.sequence) return;
    const known = entry.snapshot;
    // What was decoded of a snapshot is kept by its identity (stored-state.ts).
    if (known?.instanceId !== snapshot?.instanceId || known?.version !== snapshot?.version) {
      const size = sizeOf(entry);
      entry.snapshot = snapshot;
      if (entry.pins === 0) this.#characters += sizeOf(entry) - size;
    }
    entry.sequence = sequence;
  }

  /** Notes that a store has changed (K2). That it is gone needs no reading. */
  hear(change: Change): void {
    const entry = this.find(change);
    if (entry === undefined) return;
    this.doubt(entry, change.sequence);
    if (change.deleted) this.apply(entry, change.sequence, null);
  }

  /** The store may have changed, at `sequence` or before. */
  doubt(entry: CacheEntry, sequence: number): void {
    entry.heard = Math.max(entry.heard, sequence);
    entry.hints += 1;
  }

  /** Every store may have changed, up to `head`. */
  doubtAll(head: number): void {
    for (const entries of [this.#observed, this.#idle]) {
      for (const entry of entries.values()) this.doubt(entry, head);
    }
  }

  /** Forgets all: the database is another one, whose sequences have nothing to do with those before. */
  clear(): void {
    this.generation += 1;
    this.#idle.clear();
    this.#characters = 0;
    for (const entry of this.#observed.values()) {
      entry.snapshot = null;
      entry.sequence = entry.heard = -1;
    }
  }
}

function sizeOf(entry: CacheEntry): number {
  return entry.snapshot?.state.length ?? 0;
}
