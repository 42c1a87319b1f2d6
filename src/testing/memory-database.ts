/**
 * The contract of StoreConnector as plain Maps: the simplest code that is obviously right, to compare others with.
 *
 * Owns the rows of one database: stores, receipts, tombstones, waiters, wakes, changes. Does not own sessions, the order
 * of calls or the delivery of events (memory-connector.ts). Deliberately shares no logic with the worker's SQL.
 *
 * M1  Every method is synchronous and either completes or throws before it changed anything: calls are linearizable by
 *     construction, and a commit is atomic.
 * M2  Nothing handed in or out is kept by reference where a caller could change it.
 */
import type { Change, StoreKey } from "../protocol/change.js";
import type {
  AppliedStep,
  ChangesReading,
  CommitOperation,
  CommitOutcome,
  CommitRequest,
  ListStoresRequest,
  OperationVerdict,
  ReadChangesRequest,
  StepId,
  StepOperation,
  StoredSnapshot,
  StoreReading,
  WaiterOutcome,
  WaiterRegistration,
} from "../protocol/connector.js";
import { anyPathsIntersect, encodePaths } from "../protocol/path.js";
import { compareUtf8 } from "./compare-utf8.js";
import {
  checkAfter,
  checkCommit,
  checkExecutionId,
  checkPage,
  checkStep,
  checkStore,
  checkStoreName,
  checkWaiter,
  checkedPaths,
} from "./memory-requests.js";
import { MemoryWakes } from "./memory-wakes.js";

/** What happened, for the events that follow. */
export interface CommitEffects {
  readonly changes: readonly Change[];
  readonly wokenExecutions: readonly string[];
}

interface Row extends StoredSnapshot {
  readonly key: StoreKey;
}

interface Receipt {
  readonly step: StepId;
  readonly operation: StepOperation;
  readonly result: string;
}

export interface MemoryDatabaseOptions {
  readonly now: () => number;
  /** How many of the newest changes the feed keeps. A commit is kept or dropped whole, the newest always kept. */
  readonly changesLimit: number;
}

const rootPath = encodePaths([[]]);

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
const storeOf = ({ storeName, storeId }: StoreKey): string => keyOf(storeName, storeId);
const stepOf = (key: StoreKey, { executionId, stepKey }: StepId): string =>
  keyOf(key.storeName, key.storeId, executionId, stepKey);

export class MemoryDatabase {
  readonly wakes: MemoryWakes;
  readonly #options: MemoryDatabaseOptions;
  readonly #stores = new Map<string, Row>();
  readonly #receipts = new Map<string, Receipt>();
  readonly #forgotten = new Set<string>();
  readonly #waiters = new Map<string, WaiterRegistration>();
  #changes: Change[] = [];
  #sequence = 0;

  constructor(options: MemoryDatabaseOptions) {
    this.#options = options;
    this.wakes = new MemoryWakes(options.now);
  }

  get sequence(): number {
    return this.#sequence;
  }

  readStore(key: StoreKey): StoreReading {
    checkStore(key);
    return { sequence: this.#sequence, snapshot: this.#snapshot(key) };
  }

  listStores(request: ListStoresRequest): readonly string[] {
    checkStoreName(request.storeName);
    checkPage(request.limit);
    return [...this.#stores.values()]
      .filter((row) => row.key.storeName === request.storeName)
      .map((row) => row.key.storeId)
      .filter((id) => request.after === undefined || compareUtf8(id, request.after) > 0)
      .sort(compareUtf8)
      .slice(0, request.limit);
  }

  getAppliedStoreStep(request: StoreKey & StepId): AppliedStep {
    checkStore(request);
    checkStep(request);
    return this.#appliedStep(request, request);
  }

  /** `origin` is the session that commits. */
  commit(request: CommitRequest, origin: string): { readonly outcome: CommitOutcome; readonly effects: CommitEffects } {
    checkCommit(request);
    const verdicts = request.operations.map((operation) => this.#judge(operation));
    if (verdicts.some((verdict) => verdict.status !== "ready")) {
      const outcome: CommitOutcome = { status: "rejected", sequence: this.#sequence, verdicts };
      return { outcome, effects: { changes: [], wokenExecutions: [] } };
    }

    const sequence = this.#sequence + 1;
    const changes: Change[] = [];
    for (const operation of request.operations) {
      const change = this.#write(operation, { sequence, position: changes.length, origin });
      if (change !== undefined) changes.push(change);
      if (operation.step !== undefined) {
        const { executionId, stepKey, operation: kind, result } = operation.step;
        const receipt: Receipt = { step: { executionId, stepKey }, operation: kind, result };
        this.#receipts.set(stepOf(operation, receipt.step), receipt);
        this.#removeWaiters((waiter) => waiter.executionId === executionId && waiter.stepKey === stepKey);
      }
    }

    const woken = this.#wakeWaitersOf(changes);
    if (changes.length > 0) {
      this.#sequence = sequence;
      this.#changes.push(...changes);
      this.#trimChanges();
    }
    return {
      outcome: { status: "committed", sequence: this.#sequence },
      effects: { changes, wokenExecutions: woken },
    };
  }

  readChanges({ after, limit }: ReadChangesRequest): ChangesReading {
    checkAfter(after);
    checkPage(limit);
    const head = this.#sequence;
    const oldest = this.#changes[0]?.sequence ?? head + 1;
    if (after + 1 < oldest && after < head) return { status: "trimmed", oldest, head };
    const later = this.#changes.filter((change) => change.sequence > after);
    // The page ends with the commit in which its last allowed change falls.
    const last = later[Math.min(limit, later.length) - 1]?.sequence ?? head;
    return { status: "read", changes: later.filter((change) => change.sequence <= last), head };
  }

  registerWaiter(registration: WaiterRegistration): WaiterOutcome {
    checkWaiter(registration);
    const applied = this.#appliedStep(registration, registration);
    if (applied.status === "execution-forgotten") return applied;
    // A step whose result is recorded waits for nothing any more; its execution has to find that out.
    const recorded = applied.status === "already-applied";
    if (!recorded) this.#waiters.set(stepOf(registration, registration), { ...registration });
    const row = this.#stores.get(storeOf(registration));
    const unchanged = row?.instanceId === registration.instanceId && row.version <= registration.sinceVersion;
    if (unchanged && !recorded) return { status: "registered" };
    this.wakes.request(registration);
    return { status: "woken" };
  }

  forgetExecution(executionId: string): void {
    checkExecutionId(executionId);
    this.#forgotten.add(executionId);
    for (const [key, receipt] of this.#receipts) {
      if (receipt.step.executionId === executionId) this.#receipts.delete(key);
    }
    this.#removeWaiters((waiter) => waiter.executionId === executionId);
    this.wakes.remove(executionId);
  }

  #removeWaiters(gone: (waiter: WaiterRegistration) => boolean): void {
    for (const [key, waiter] of this.#waiters) if (gone(waiter)) this.#waiters.delete(key);
  }

  /** Why an operation cannot be written, in the contract's order (stores 5). */
  #judge(operation: CommitOperation): OperationVerdict {
    if (operation.step !== undefined) {
      const applied = this.#appliedStep(operation, operation.step);
      if (applied.status !== "not-applied") return applied;
    }
    const current = this.#snapshot(operation);
    if (current === null) {
      return operation.type === "create" || operation.type === "discard" ? { status: "ready" } : { status: "missing" };
    }
    if (current.definitionVersion > operation.definitionVersion) {
      return { status: "definition-outdated", storedVersion: current.definitionVersion };
    }
    if (operation.type === "discard") return { status: "ready" };
    if (operation.type === "create") return { status: "conflict", current };
    const { instanceId, version } = operation.expected;
    return current.instanceId === instanceId && current.version === version
      ? { status: "ready" }
      : { status: "conflict", current };
  }

  /** Writes what was judged ready; undefined when there was nothing to write. */
  #write(
    operation: CommitOperation,
    commit: { readonly sequence: number; readonly position: number; readonly origin: string },
  ): Change | undefined {
    const { storeName, storeId, definitionVersion } = operation;
    const key: StoreKey = { storeName, storeId };
    const change = { ...key, ...commit };
    if (operation.type === "create" || operation.type === "replace") {
      const { state, changedPaths } = operation;
      const instanceId = operation.type === "create" ? operation.instanceId : operation.expected.instanceId;
      const version = operation.type === "create" ? operation.version : operation.expected.version + 1;
      this.#stores.set(storeOf(key), { key, instanceId, version, definitionVersion, state });
      return { ...change, instanceId, version, changedPaths, deleted: false };
    }
    const row = this.#stores.get(storeOf(key));
    if (row === undefined) return undefined;
    this.#stores.delete(storeOf(key));
    return { ...change, instanceId: row.instanceId, version: row.version, changedPaths: rootPath, deleted: true };
  }

  /** Requests the wakes that `changes` cause, one per execution, and removes the waiters of deleted stores. */
  #wakeWaitersOf(changes: readonly Change[]): readonly string[] {
    const woken = new Map<string, WaiterRegistration>();
    for (const change of changes) {
      const changed = checkedPaths(change.changedPaths);
      for (const [key, waiter] of this.#waiters) {
        if (storeOf(waiter) !== storeOf(change)) continue;
        // A waiter for another instance knows nothing about this one, whatever the numbers say.
        const knows = waiter.instanceId === change.instanceId && waiter.sinceVersion >= change.version;
        const touched = anyPathsIntersect(checkedPaths(waiter.readPaths), changed);
        if (change.deleted) this.#waiters.delete(key);
        if (change.deleted || (!knows && touched)) woken.set(waiter.executionId, waiter);
      }
    }
    for (const waiter of woken.values()) this.wakes.request(waiter);
    return [...woken.keys()];
  }

  #appliedStep(key: StoreKey, step: StepId): AppliedStep {
    if (this.#forgotten.has(step.executionId)) return { status: "execution-forgotten" };
    const receipt = this.#receipts.get(stepOf(key, step));
    if (receipt === undefined) return { status: "not-applied" };
    return { status: "already-applied", operation: receipt.operation, result: receipt.result };
  }

  #snapshot(key: StoreKey): StoredSnapshot | null {
    const row = this.#stores.get(storeOf(key));
    if (row === undefined) return null;
    const { instanceId, version, definitionVersion, state } = row;
    return { instanceId, version, definitionVersion, state };
  }

  #trimChanges(): void {
    const newestDropped = this.#changes[this.#changes.length - this.#options.changesLimit - 1]?.sequence ?? 0;
    const cut = Math.min(newestDropped, this.#sequence - 1);
    this.#changes = this.#changes.filter((change) => change.sequence > cut);
  }
}
