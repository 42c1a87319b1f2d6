/** StoreHandle: one store as an app uses it. */
import type { StoreDefinition } from "./define-store.js";
import type { Matched } from "./durable-type.js";
import type {
  CallRequest,
  Claim,
  MissingSnapshot,
  Selector,
  SnapshotReference,
  StoreDeleteFrom,
  StoreSnapshot,
  StoreUpdate,
  StoreUpdateFrom,
  Updater,
} from "./store-client.js";

export interface WaitOptions {
  /** Ends the wait with AbortedError. */
  readonly signal?: AbortSignal;
  /** Epoch milliseconds. The wait then resolves with `timed-out`. */
  readonly deadline?: number;
}

export interface WatchOptions {
  /** Hears what the selector or the callback throws. Without it, such errors go to `stores.on("error")`. */
  readonly onError?: (error: unknown) => void;
  /** Stops the watch, as the function returned does. */
  readonly signal?: AbortSignal;
}

/** What a watch and `peek` see: the newest snapshot, or the initial state of a store that is missing. */
export type ObservedSnapshot<State> = StoreSnapshot<State> | MissingSnapshot<State>;

export interface StoreHandle<State> {
  readonly definition: StoreDefinition<State>;
  readonly id: string;

  /** The present snapshot, asked of the owner. Creates a missing store at version 0. */
  get(): Promise<StoreSnapshot<State>>;

  /** The newest snapshot this client knows; undefined until it has read. Makes no call. */
  peek(): ObservedSnapshot<State> | undefined;

  /** Edits the draft, or returns a replacement; runs again when another commit came in between. */
  update(updater: Updater<State>, options?: CallRequest): Promise<StoreUpdate<State>>;

  /** As `update`, but only if the store is still at the version of `snapshot`. */
  updateFrom(
    snapshot: SnapshotReference,
    updater: Updater<State>,
    options?: CallRequest,
  ): Promise<StoreUpdateFrom<State>>;

  /** Deletes the store if it is still at the version of `snapshot`. */
  deleteFrom(snapshot: SnapshotReference, options?: CallRequest): Promise<StoreDeleteFrom>;

  /**
   * Waits until the selector matches, and claims what it found in the same commit. Never creates a store to wait for.
   *
   * @returns what was selected, after the claim
   */
  take<R>(
    selector: Selector<State, R>,
    claim: Claim<State, R>,
    options: CallRequest & { readonly deadline: number },
  ): Promise<{ readonly status: "matched"; readonly selected: Matched<R> } | { readonly status: "timed-out" }>;
  take<R>(selector: Selector<State, R>, claim: Claim<State, R>, options?: CallRequest): Promise<Matched<R>>;

  /** Waits until the selector matches (its result is not undefined, null or false). Changes nothing. */
  when<R>(
    selector: Selector<State, R>,
    options: { readonly signal?: AbortSignal; readonly deadline: number },
  ): Promise<{ readonly status: "matched"; readonly value: Matched<R> } | { readonly status: "timed-out" }>;
  when<R>(selector: Selector<State, R>, options?: { readonly signal?: AbortSignal }): Promise<Matched<R>>;

  /**
   * Calls back with the selected value now, and after each commit that changed it. Values in between may be skipped,
   * and an older one never follows a newer one.
   *
   * @returns a function that stops it
   */
  watch<R>(
    selector: Selector<State, R>,
    callback: (value: R, snapshot: ObservedSnapshot<State>) => void,
    options?: WatchOptions,
  ): () => void;
}
