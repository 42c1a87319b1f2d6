/**
 * The surface of stores: StoreClient, as all other layers use it, and StoreHandle, as apps do.
 *
 * Each method of StoreClient takes one object, and most take a step id, with which repeating the call is safe: it is
 * applied once, and a repeat gets the recorded result and runs no callback. All of them reject with typed errors
 * (protocol/errors.ts); after any rejection but `outcome-unknown` nothing was written by the call.
 */
import type { StoreDefinition } from "./define-store.js";
import type { DeepReadonly, Draft, Matched } from "./durable-type.js";
import type { StepId } from "./protocol/connector.js";
import type { StorePath } from "./protocol/path.js";

/** Which store a call is about. */
export interface StoreAddress<State> {
  readonly definition: StoreDefinition<State>;
  readonly id: string;
}

/** Which version of which instance a caller has seen. Only these two count; the state beside them is never read. */
export interface SnapshotReference {
  readonly instanceId: string;
  readonly version: number;
}

/** One version of a store. The state is the caller's own copy. */
export interface StoreSnapshot<State> extends SnapshotReference {
  readonly state: DeepReadonly<State>;
}

/** A store that does not exist (yet, or any more), as waits see it: in its initial state. */
export interface MissingSnapshot<State> {
  readonly state: DeepReadonly<State>;
  readonly instanceId: null;
  readonly version: null;
}

/** What a commit wrote, and which version it replaced. */
export interface StoreUpdate<State> {
  readonly state: DeepReadonly<State>;
  readonly previousVersion: number;
  readonly version: number;
}

/** The snapshot a caller had is no longer the present one. */
export interface VersionConflict {
  readonly expectedInstanceId: string;
  readonly actualInstanceId: string;
  readonly expectedVersion: number;
  readonly actualVersion: number;
}

export type StoreUpdateFrom<State> =
  | ({ readonly updated: true } & StoreUpdate<State>)
  | ({ readonly updated: false } & VersionConflict);

export type StoreDeleteFrom =
  | { readonly deleted: true }
  | ({ readonly deleted: false; readonly reason: "conflict" } & VersionConflict);

export type StoreTake<R> =
  | ({ readonly matched: true; readonly selected: Matched<R> } & SnapshotReference)
  | ({ readonly matched: false; readonly readPaths: readonly StorePath[] } & SnapshotReference);

/** Looks at a state; must be synchronous and must not change it. */
export type Selector<State, R> = (state: DeepReadonly<State>) => R;
/** Edits the draft, or returns a replacement. Returning the draft is the same as editing it. */
export type Updater<State> = (draft: Draft<State>) => DeepReadonly<State> | void;
/** Edits the draft, or the part of it that was selected. */
export type Claim<State, R> = (draft: Draft<State>, selected: Draft<Matched<R>>) => void;

export interface StepOptions {
  /** Makes the call exactly once, across the client's own death, too. */
  readonly stepId?: StepId;
}

export interface SignalOptions {
  /** Honoured until the commit is sent; from then on the call ends with its real outcome. */
  readonly signal?: AbortSignal;
}

export type CallRequest = StepOptions & SignalOptions;

// The state's type is the definition's: what a callback returns must not widen it, hence NoInfer.
export interface UpdateRequest<State> extends StoreAddress<State>, CallRequest {
  readonly updater: Updater<NoInfer<State>>;
}

export interface UpdateFromRequest<State> extends StoreAddress<State>, CallRequest {
  readonly snapshot: SnapshotReference;
  readonly updater: Updater<NoInfer<State>>;
}

export interface TakeRequest<State, R> extends StoreAddress<State>, CallRequest {
  readonly selector: Selector<NoInfer<State>, R>;
  readonly claim: Claim<NoInfer<State>, R>;
}

export interface DeleteFromRequest<State> extends StoreAddress<State>, CallRequest {
  readonly snapshot: SnapshotReference;
}

/** Stores under the names by which an updater knows them: their states, by name. */
export type StoreStates = Readonly<Record<string, unknown>>;
export type StoreAddresses<States extends StoreStates> = {
  readonly [Name in keyof States]: StoreAddress<States[Name]>;
};
export type StoreUpdates<States extends StoreStates> = { readonly [Name in keyof States]: StoreUpdate<States[Name]> };
/** Edits several drafts. Replacing one is done by assigning to it: `drafts.order = {…}`. */
export type Transaction<States extends StoreStates> = (drafts: { [Name in keyof States]: Draft<States[Name]> }) => void;

export interface TransactRequest<States extends StoreStates> extends CallRequest {
  readonly stores: StoreAddresses<States>;
  readonly updater: Transaction<States>;
}

/** A durable note that a step of an execution read these paths of this instance at this version. */
export interface WaiterRequest {
  readonly workflowId: string;
  readonly executionId: string;
  readonly stepKey: string;
  readonly storeName: string;
  readonly storeId: string;
  readonly instanceId: string;
  readonly sinceVersion: number;
  readonly readPaths: readonly StorePath[];
}

/** `woken`: the store has changed already, and the wake was requested at once. */
export interface WaiterRegistered {
  readonly status: "registered" | "woken";
}

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

export interface StoreClient {
  /** The present snapshot, asked of the owner. Creates a missing store at version 0. */
  getStore<State>(request: StoreAddress<State>): Promise<StoreSnapshot<State>>;

  /**
   * Runs the updater on the present state and commits what it makes. When another commit came in between, the updater
   * runs again on the newer state.
   *
   * @throws StoreChangedTooOftenError after 100 lost races in a row
   * @throws ValidationFailedError, ValueNotDurableError, DraftMisuseError, ReceiptMismatchError,
   * ExecutionForgottenError, DefinitionOutdatedError, MigrationFailedError, AbortedError
   */
  updateStore<State>(request: UpdateRequest<State>): Promise<StoreUpdate<State>>;

  /** As `updateStore`, but only on the version of the snapshot; a conflict is returned and never retried. */
  updateStoreFrom<State>(request: UpdateFromRequest<State>): Promise<StoreUpdateFrom<State>>;

  /** Runs the selector once; if it matches, runs the claim and commits. A miss changes nothing and records nothing. */
  takeFromStore<State, R>(request: TakeRequest<State, R>): Promise<StoreTake<R>>;

  /** Deletes the store if it is still at the version of the snapshot. Wakes what waits for it. */
  deleteStoreFrom<State>(request: DeleteFromRequest<State>): Promise<StoreDeleteFrom>;

  /** Commits to several stores at once: all or nothing. The updater runs again when any of them has changed. */
  transactStores<States extends StoreStates>(request: TransactRequest<States>): Promise<StoreUpdates<States>>;

  /** Upserts a waiter: the next commit to what it read requests a wake of its execution. */
  registerWaiter(request: WaiterRequest): Promise<WaiterRegistered>;

  /** The ids of the stores that exist, ascending by their UTF-8 bytes. */
  listStores<State>(definition: StoreDefinition<State>): Promise<string[]>;

  /** Deletes the store, whatever it is. Idempotent. */
  deleteStore<State>(request: StoreAddress<State>): Promise<void>;

  /** Replaces an execution's receipts and waiters by a tombstone: its late calls are refused from then on. */
  forgetExecution(executionId: string): Promise<void>;

  /** The store under this id. Makes no call. */
  store<State>(definition: StoreDefinition<State>, id: string): StoreHandle<State>;
}
