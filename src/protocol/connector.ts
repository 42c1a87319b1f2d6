/**
 * StoreConnector: the boundary between the side that computes and the side that commits.
 *
 * The page implements the whole client over it once; a backend implements it once: the worker's SQLite, an in-memory
 * one for tests, whatever comes later. No application callback and no schema ever crosses: states, results and paths
 * travel as canonical strings (durable-value.ts, path.ts).
 *
 * What every connector guarantees (the conformance suite checks it):
 * C1  `commit` is atomic over its operations and linearizable with every other call on the same database.
 * C2  Each commit gets the next sequence, without gaps, and its change rows are written with it.
 * C3  A receipt found means: nothing is written, the recorded result is returned.
 * C4  Registering a waiter and committing to its store are linearizable: no wakeup is lost between them.
 * C5  A commit's event is sent after it is durable, never before, to every session, the committing one included.
 * C6  Expected outcomes are returned as unions; what is thrown is a WakefulError.
 */
import type { Change, StoreKey } from "./change.js";
import type { StorageReport, StoreEvent } from "./events.js";
import type { TransferConnector } from "./transfer.js";

/** Which step of which execution a write belongs to: the key of its receipt. */
export interface StepId {
  readonly executionId: string;
  readonly stepKey: string;
}

/** One version of one instance. `state` is canonical JSON text. */
export interface StoredSnapshot {
  readonly instanceId: string;
  readonly version: number;
  /** Version of the definition that wrote this row. */
  readonly definitionVersion: number;
  readonly state: string;
}

/** What a write expects to find, so that it can be refused when that has changed. */
export interface ExpectedVersion {
  readonly instanceId: string;
  readonly version: number;
}

/** What a receipt says was done, so that it can never answer for another kind of operation. */
export type StepOperation = "update" | "update-from" | "take" | "delete-from" | "transact";

/** The receipt to write with an operation. `result` is canonical JSON text, returned verbatim when it is repeated. */
export interface StepRecord extends StepId {
  readonly operation: StepOperation;
  readonly result: string;
}

interface OperationBase extends StoreKey {
  /** Version of the definition this code runs; a row of a newer one is never touched. */
  readonly definitionVersion: number;
  readonly step?: StepRecord;
}

/** Writes a store that must not exist. The instance id is chosen by the caller, so that it can compute on it at once. */
export interface CreateOperation extends OperationBase {
  readonly type: "create";
  readonly instanceId: string;
  /** 0: the initial state as it is. 1: the initial state and a first update in one. */
  readonly version: 0 | 1;
  readonly state: string;
  readonly changedPaths: string;
}

/** Writes version `expected.version + 1` of the instance expected. */
export interface ReplaceOperation extends OperationBase {
  readonly type: "replace";
  readonly expected: ExpectedVersion;
  readonly state: string;
  readonly changedPaths: string;
}

/** Deletes the store, if it is still as expected. */
export interface DeleteOperation extends OperationBase {
  readonly type: "delete";
  readonly expected: ExpectedVersion;
}

/** Deletes the store, whatever it is. A missing one is no failure, and alone it makes no commit. */
export interface DiscardOperation extends OperationBase {
  readonly type: "discard";
}

export type CommitOperation = CreateOperation | ReplaceOperation | DeleteOperation | DiscardOperation;

export interface CommitRequest {
  /** 1 to 1,000 operations on different stores. */
  readonly operations: readonly CommitOperation[];
}

/** Why one operation could not be written, or that it could have been. */
export type OperationVerdict =
  | { readonly status: "ready" }
  | { readonly status: "execution-forgotten" }
  | { readonly status: "already-applied"; readonly operation: StepOperation; readonly result: string }
  | { readonly status: "missing" }
  | { readonly status: "conflict"; readonly current: StoredSnapshot }
  /** The row was written by a newer definition than the operation's. */
  | { readonly status: "definition-outdated"; readonly storedVersion: number };

export type CommitOutcome =
  /** `sequence` is that of this commit, or the newest one when nothing needed writing (a discard of nothing). */
  | { readonly status: "committed"; readonly sequence: number }
  /** One verdict per operation, in their order; at least one is not "ready". `sequence`: as of which it was judged. */
  | { readonly status: "rejected"; readonly sequence: number; readonly verdicts: readonly OperationVerdict[] };

/** A store as of a sequence: every commit up to it is seen, none after it. */
export interface StoreReading {
  readonly sequence: number;
  readonly snapshot: StoredSnapshot | null;
}

export type AppliedStep =
  | { readonly status: "not-applied" }
  | { readonly status: "already-applied"; readonly operation: StepOperation; readonly result: string }
  | { readonly status: "execution-forgotten" };

export interface ListStoresRequest {
  readonly storeName: string;
  /** Exclusive; omitted: from the first. */
  readonly after?: string;
  /** 1 to 10,000. */
  readonly limit: number;
}

export interface ReadChangesRequest {
  /** Exclusive. */
  readonly after: number;
  /** 1 to 10,000; a commit is never cut in two, so a page may be longer. */
  readonly limit: number;
}

export type ChangesReading =
  /** `head` is the newest sequence of the database. The page is empty when `after` is the head or later. */
  | { readonly status: "read"; readonly changes: readonly Change[]; readonly head: number }
  /** Changes after `after` are no longer kept; the oldest kept is `oldest`. */
  | { readonly status: "trimmed"; readonly oldest: number; readonly head: number };

/** A durable note that a step of an execution read these paths of this instance at this version. */
export interface WaiterRegistration extends StoreKey, StepId {
  readonly workflowId: string;
  readonly instanceId: string;
  readonly sinceVersion: number;
  /** Canonical text of the paths read. */
  readonly readPaths: string;
}

export type WaiterOutcome =
  /** The waiter stands; the store has not changed since. */
  | { readonly status: "registered" }
  /** The waiter stands, and a wake was requested at once: the store is missing, another instance, or past the version. */
  | { readonly status: "woken" }
  | { readonly status: "execution-forgotten" };

/** A durable request that an execution be delivered again. */
export interface Wake {
  readonly workflowId: string;
  readonly executionId: string;
  /** Raised each time the wake is requested again: acknowledging an older one leaves a newer one standing. */
  readonly generation: number;
  /** Epoch milliseconds by the owner's clock. */
  readonly requestedAt: number;
}

export interface ReadWakesRequest {
  /** 1 to 10,000. */
  readonly limit: number;
  /** True: only wakes that no other live session has claimed, and they are claimed by this one. */
  readonly claim: boolean;
}

/** What stays on this side of the boundary with a call. */
export interface CallOptions {
  /** Honoured until the call is sent; from then on it ends with its real outcome. */
  readonly signal?: AbortSignal;
}

/** One session's view of one database. */
export interface StoreConnector {
  /** Identifies this session: the `origin` of its changes. */
  readonly session: string;
  readStore(key: StoreKey, options?: CallOptions): Promise<StoreReading>;
  commit(request: CommitRequest, options?: CallOptions): Promise<CommitOutcome>;
  getAppliedStoreStep(request: StoreKey & StepId, options?: CallOptions): Promise<AppliedStep>;
  /** Ids, ascending by UTF-8 bytes. */
  listStores(request: ListStoresRequest, options?: CallOptions): Promise<readonly string[]>;
  readChanges(request: ReadChangesRequest, options?: CallOptions): Promise<ChangesReading>;
  registerWaiter(registration: WaiterRegistration, options?: CallOptions): Promise<WaiterOutcome>;
  readWakes(request: ReadWakesRequest, options?: CallOptions): Promise<readonly Wake[]>;
  /** Removes the wake if its generation is still this one. */
  acknowledgeWake(request: { readonly executionId: string; readonly generation: number }): Promise<void>;
  /** Gives a claimed wake back, so that any session may claim it again. */
  releaseWake(request: { readonly executionId: string }): Promise<void>;
  /** Replaces the execution's receipts and waiters by a tombstone. Idempotent. */
  forgetExecution(executionId: string): Promise<void>;
  storage(): Promise<StorageReport>;
  /** Only of connectors whose database is a file. */
  readonly transfer?: TransferConnector;
  /** Every event from now on, in order, until the returned function is called. A listener must not throw. */
  subscribe(listener: (event: StoreEvent) => void): () => void;
  /** Ends this session: pending calls settle, claims are released. Idempotent. */
  close(): Promise<void>;
}
