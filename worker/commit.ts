/**
 * The one write of the contract: judges every operation of a commit, and writes all of them or none.
 *
 * Owns: the order in which an operation is judged (stores 5), and what is written with it. Does not own the transaction
 * (connector.ts opens it) nor any SQL.
 *
 * T1  Nothing is written before every operation was judged ready.
 * T2  Judged in this order: execution forgotten, receipt, missing, newer definition, conflict.
 * T3  A step's own waiter is gone before it is looked for whom to wake: a commit never wakes the step that made it.
 * T4  An execution is woken once, however many of its waiters the commit touches.
 */
import type { Change } from "../src/protocol/change.js";
import type {
  CommitOperation,
  CommitOutcome,
  CommitRequest,
  OperationVerdict,
  StepId,
} from "../src/protocol/connector.js";
import { InvalidArgumentError } from "../src/protocol/errors.js";
import { encodePaths } from "../src/protocol/path.js";
import type { Changes } from "./changes.js";
import type { Ledger } from "./ledger.js";
import type { StoreHead, Stores } from "./stores.js";
import type { Sleeper, Waiters } from "./waiters.js";
import type { Wakes } from "./wakes.js";

/** The tables that a commit writes. */
export interface Tables {
  readonly stores: Stores;
  readonly ledger: Ledger;
  readonly waiters: Waiters;
  readonly wakes: Wakes;
  readonly changes: Changes;
}

export interface CommitContext {
  /** Session that commits. */
  readonly origin: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The outcome for the caller, and for everybody else what happened. */
export interface CommitResult {
  readonly outcome: CommitOutcome;
  readonly changes: readonly Change[];
  readonly woken: readonly string[];
}

interface Judged {
  readonly operation: CommitOperation;
  readonly verdict: OperationVerdict;
  readonly head: StoreHead | undefined;
}

const ROOT_CHANGED = encodePaths([[]]);

/** Call it inside a transaction. The request was checked (check-request.ts). */
export function applyCommit(tables: Tables, { operations }: CommitRequest, context: CommitContext): CommitResult {
  const judged = operations.map((operation) => judge(tables, operation));
  if (judged.some(({ verdict }) => verdict.status !== "ready")) {
    const verdicts = judged.map(({ verdict }) => verdict);
    return { outcome: { status: "rejected", sequence: tables.changes.head(), verdicts }, changes: [], woken: [] };
  }

  const sequence = tables.changes.head() + 1;
  const changes: Change[] = [];
  for (const { operation, head } of judged) {
    const written = write(tables, operation, head);
    if (written === undefined) continue;
    const { storeName, storeId } = operation;
    changes.push({ storeName, storeId, sequence, position: changes.length, origin: context.origin, ...written });
  }
  recordSteps(tables, operations);
  const woken = wake(tables, changes, context.now);
  tables.changes.append(changes);
  tables.changes.trim();
  return { outcome: { status: "committed", sequence: tables.changes.head() }, changes, woken };
}

function judge({ stores, ledger }: Tables, operation: CommitOperation): Judged {
  if (operation.step !== undefined) {
    const applied = ledger.applied(operation, operation.step);
    if (applied.status !== "not-applied") return { operation, verdict: applied, head: undefined };
  }
  const head = stores.head(operation);
  return { operation, head, verdict: judgeStore(stores, operation, head) };
}

function judgeStore(stores: Stores, operation: CommitOperation, head: StoreHead | undefined): OperationVerdict {
  if (head === undefined) {
    return { status: operation.type === "create" || operation.type === "discard" ? "ready" : "missing" };
  }
  if (head.definitionVersion > operation.definitionVersion) {
    return { status: "definition-outdated", storedVersion: head.definitionVersion };
  }
  if (operation.type === "discard") return { status: "ready" };
  const expected = operation.type === "create" ? undefined : operation.expected;
  if (expected?.instanceId === head.instanceId && expected.version === head.version) return { status: "ready" };
  const current = stores.read(operation);
  return current === null ? { status: "missing" } : { status: "conflict", current };
}

type Written = Pick<Change, "instanceId" | "version" | "changedPaths" | "deleted">;

/** Undefined: there was nothing to write. */
function write({ stores }: Tables, operation: CommitOperation, head: StoreHead | undefined): Written | undefined {
  switch (operation.type) {
    case "create": {
      const { instanceId, version, definitionVersion, state, changedPaths } = operation;
      if (!stores.insert(operation, { instanceId, version, definitionVersion, state })) {
        throw new InvalidArgumentError(
          `The instance id ${instanceId} belongs to another store: make a new one for every creation.`,
        );
      }
      return { instanceId, version, changedPaths, deleted: false };
    }
    case "replace": {
      if (head === undefined) return undefined; // T1 keeps it from happening: a missing store is not ready.
      const { definitionVersion, state, changedPaths, expected } = operation;
      const version = expected.version + 1;
      stores.update(head.row, { version, definitionVersion, state });
      return { instanceId: head.instanceId, version, changedPaths, deleted: false };
    }
    case "delete":
    case "discard":
      if (head === undefined) return undefined;
      stores.remove(head.row);
      return { instanceId: head.instanceId, version: head.version, changedPaths: ROOT_CHANGED, deleted: true };
  }
}

function recordSteps({ ledger, waiters }: Tables, operations: readonly CommitOperation[]): void {
  let last: StepId | undefined;
  for (const operation of operations) {
    const { step } = operation;
    if (step === undefined) continue;
    ledger.record(operation, step);
    // The operations of one commit are mostly of one step: it stops waiting once.
    if (step.executionId === last?.executionId && step.stepKey === last.stepKey) continue;
    waiters.removeStep(step);
    last = step;
  }
}

function wake({ waiters, wakes }: Tables, changes: readonly Change[], now: number): string[] {
  const sleepers = new Map<string, Sleeper>();
  for (const change of changes) {
    if (!waiters.any(change)) continue;
    const touched = change.deleted
      ? waiters.removeStore(change)
      : waiters.touchedBy(change, change, change.changedPaths);
    for (const sleeper of touched) sleepers.set(sleeper.executionId, sleeper);
  }
  for (const sleeper of sleepers.values()) wakes.request(sleeper, now);
  return [...sleepers.keys()];
}
