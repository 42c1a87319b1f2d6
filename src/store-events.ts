/** What a client tells its app beside the outcomes of calls. */
import type { WakefulError } from "./protocol/errors.js";
import type { OwnerEvent, StorageEvent } from "./protocol/events.js";
import type { StoreChange } from "./store-change.js";

export interface StoreEventMap {
  /** Commits of any tab, in the order of their sequence, each once. */
  readonly commit: { readonly changes: readonly StoreChange[] };
  /** A call of this client lost a race and runs again. */
  readonly conflict: { readonly storeName: string; readonly storeId: string; readonly lostRaces: number };
  /** Wakes were requested for these executions. */
  readonly wake: { readonly executionIds: readonly string[] };
  /** Another tab owns the database now. */
  readonly owner: Omit<OwnerEvent, "type">;
  /** Storage is not what it should be: nothing is durable, something is lost, or it is full. */
  readonly storage: Omit<StorageEvent, "type" | "epoch">;
  /** This code is older than the data or than another tab: reload the app. Said once. */
  readonly outdated: { readonly error: WakefulError };
  /** A state is so large that each commit, which rewrites it, is slow. `bytes` of UTF-8. */
  readonly slow: { readonly storeName: string; readonly storeId: string; readonly bytes: number };
  /** A failure that no call could report. */
  readonly error: { readonly error: unknown };
}

export type StoreEventType = keyof StoreEventMap;
export type StoreEventListener<Type extends StoreEventType> = (event: StoreEventMap[Type]) => void;
