/** What makes a request one that the contract allows. Each check throws before anything was read or written. */
import type { StoreKey } from "../protocol/change.js";
import type {
  CommitOperation,
  CommitRequest,
  StepId,
  StepOperation,
  StepRecord,
  WaiterRegistration,
} from "../protocol/connector.js";
import { InvalidArgumentError } from "../protocol/errors.js";
import { checkIdentifier, MAX_OPERATIONS, MAX_PAGE, MAX_STATE_BYTES, utf8Length } from "../protocol/limits.js";
import { decodePaths, type StorePath } from "../protocol/path.js";

const operationTypes: readonly string[] = [
  "create",
  "replace",
  "delete",
  "discard",
] satisfies CommitOperation["type"][];

const stepOperations: readonly string[] = [
  "update",
  "update-from",
  "take",
  "delete-from",
  "transact",
] satisfies StepOperation[];

export function checkStoreName(storeName: string): void {
  checkIdentifier("definition name", storeName);
}

export function checkStore({ storeName, storeId }: StoreKey): void {
  checkStoreName(storeName);
  checkIdentifier("store id", storeId);
}

export function checkExecutionId(executionId: string): void {
  checkIdentifier("execution id", executionId);
}

export function checkStep({ executionId, stepKey }: StepId): void {
  checkExecutionId(executionId);
  checkIdentifier("step key", stepKey);
}

export function checkPage(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return;
  throw new InvalidArgumentError(`The limit is ${limit}: give an integer from 1 to ${MAX_PAGE}.`);
}

export function checkAfter(after: number): void {
  if (Number.isInteger(after) && after >= 0) return;
  throw new InvalidArgumentError(`The changes after ${after} were asked for: give a sequence, or 0 for all of them.`);
}

export function checkWaiter(registration: WaiterRegistration): void {
  checkStore(registration);
  checkStep(registration);
  checkIdentifier("workflow id", registration.workflowId);
  checkIdentifier("instance id", registration.instanceId);
  checkVersion(registration.sinceVersion);
  checkedPaths(registration.readPaths);
}

/** The paths that `text` stands for. */
export function checkedPaths(text: string): readonly StorePath[] {
  const decoded = decodePaths(text);
  if (decoded.status === "invalid") throw new InvalidArgumentError(decoded.message);
  return decoded.paths;
}

export function checkCommit({ operations }: CommitRequest): void {
  if (operations.length < 1 || operations.length > MAX_OPERATIONS) {
    throw new InvalidArgumentError(
      `A commit has ${operations.length} operations: give 1 to ${MAX_OPERATIONS}, and split larger ones.`,
    );
  }
  const stores = new Set<string>();
  for (const operation of operations) {
    checkOperation(operation);
    const store = JSON.stringify([operation.storeName, operation.storeId]);
    if (stores.has(store)) {
      throw new InvalidArgumentError(`The store ${store} is twice in one commit: make one operation of the two.`);
    }
    stores.add(store);
  }
}

function checkOperation(operation: CommitOperation): void {
  checkStore(operation);
  if (operation.step !== undefined) checkRecord(operation.step);
  checkVersion(operation.definitionVersion);
  if (!operationTypes.includes(operation.type)) {
    throw new InvalidArgumentError(`There is no operation ${JSON.stringify(operation.type)}.`);
  }
  if (operation.type === "create") {
    checkIdentifier("instance id", operation.instanceId);
    if (operation.version > 1)
      throw new InvalidArgumentError(`A store is created at version 0 or 1, not ${operation.version}.`);
    checkVersion(operation.version);
  }
  if (operation.type === "create" || operation.type === "replace") {
    checkState(operation.state);
    checkedPaths(operation.changedPaths);
  }
  if (operation.type === "replace" || operation.type === "delete") checkVersion(operation.expected.version);
}

function checkRecord(record: StepRecord): void {
  checkStep(record);
  if (stepOperations.includes(record.operation) && typeof record.result === "string") return;
  throw new InvalidArgumentError(`A receipt needs a result as text and one of ${stepOperations.join(", ")}.`);
}

function checkState(state: string): void {
  if (typeof state !== "string") throw new InvalidArgumentError("The state is not the text of a durable value.");
  const bytes = utf8Length(state);
  if (bytes <= MAX_STATE_BYTES) return;
  throw new InvalidArgumentError(
    `The state has ${bytes} bytes, and at most ${MAX_STATE_BYTES} are allowed: divide it among several stores.`,
    { bytes, limit: MAX_STATE_BYTES },
  );
}

function checkVersion(version: number): void {
  if (Number.isSafeInteger(version) && version >= 0) return;
  throw new InvalidArgumentError(`The version is ${version}: versions are integers from 0.`);
}
