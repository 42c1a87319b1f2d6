/**
 * What an owner tells every session. An event is a hint and never the truth: it may be lost, doubled or late, and a
 * session that misses one catches up from the change feed (`readChanges`).
 */
import type { Change } from "./change.js";
import type { WireError } from "./errors.js";

/** "strict": an acknowledged commit has been flushed. "relaxed": it survives any crash but may be lost at power loss. */
export type Durability = "strict" | "relaxed";

/** Where the data is, told truthfully. Sizes in bytes, for the whole origin, `null` where the platform does not tell. */
export type StorageReport =
  | {
      readonly kind: "opfs";
      readonly durability: Durability;
      readonly persisted: boolean;
      readonly usage: number | null;
      readonly quota: number | null;
    }
  /** Nothing is durable. `reason` is why; only `fallback: "memory"` (or a test) brings this about. */
  | { readonly kind: "memory"; readonly reason: string };

/** Commits in ascending sequence, one group coalesced. A first sequence past the last one heard plus one is a gap. */
export interface CommitEvent {
  readonly type: "commit";
  readonly epoch: number;
  readonly changes: readonly Change[];
}

/** Wakes were requested for these executions; the rows are read with `readWakes`. */
export interface WakeEvent {
  readonly type: "wake";
  readonly epoch: number;
  readonly executionIds: readonly string[];
}

/** Another owner answers now, or the first one. Sessions catch up from the sequence they know. */
export interface OwnerEvent {
  readonly type: "owner";
  readonly epoch: number;
  /** Session of the tab whose worker owns the database. */
  readonly host: string;
  /** Changes when the database is another one than before: evicted, or in memory and lost. */
  readonly databaseId: string;
  /** The newest sequence when this owner opened, or answered. */
  readonly sequence: number;
  readonly storage: "opfs" | "memory";
}

/**
 * `fallback`: nothing is durable. `lost`: what was there is gone. `full`: commits are refused for want of room.
 * `damaged`: something in the file cannot be read.
 */
export const STORAGE_STATUSES = ["fallback", "lost", "full", "damaged"] as const;
export type StorageStatus = (typeof STORAGE_STATUSES)[number];

/** Something about storage that the app should know. */
export interface StorageEvent {
  readonly type: "storage";
  readonly epoch: number;
  readonly status: StorageStatus;
  readonly reason: string;
}

/** A background failure that no call could report. */
export interface ErrorEvent {
  readonly type: "error";
  readonly error: WireError;
}

export type StoreEvent = CommitEvent | WakeEvent | OwnerEvent | StorageEvent | ErrorEvent;
