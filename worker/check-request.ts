/**
 * What a request has to be before any of it is looked at. Every check throws InvalidArgumentError, and so before anything
 * was read or written. Fields that nobody knows are ignored: only the known ones are ever used.
 */
import type { StoreKey } from "../src/protocol/change.js";
import type {
  CommitOperation,
  CommitRequest,
  ListStoresRequest,
  ReadChangesRequest,
  ReadWakesRequest,
  StepId,
  StepOperation,
  WaiterRegistration,
} from "../src/protocol/connector.js";
import { InvalidArgumentError } from "../src/protocol/errors.js";
import { checkIdentifier, MAX_OPERATIONS, MAX_PAGE, MAX_STATE_BYTES, utf8Length } from "../src/protocol/limits.js";
import { decodePaths } from "../src/protocol/path.js";

/** A record whose fields are still to be checked. */
type Fields = { readonly [name: string]: unknown };

const OPERATION_TYPES: ReadonlySet<unknown> = new Set<CommitOperation["type"]>([
  "create",
  "replace",
  "delete",
  "discard",
]);
const STEP_OPERATIONS: ReadonlySet<unknown> = new Set<StepOperation>([
  "update",
  "update-from",
  "take",
  "delete-from",
  "transact",
]);
const INSTANCE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function checkStoreKey(value: unknown): StoreKey {
  const fields = checkFields("store key", value);
  checkIdentifier("definition name", fields["storeName"]);
  checkIdentifier("store id", fields["storeId"]);
  return fields as Fields & StoreKey; // The two fields of the type were just checked.
}

export function checkAppliedStepRequest(value: unknown): StoreKey & StepId {
  const key = checkStoreKey(value);
  return { ...key, ...checkStep(value) };
}

export function checkCommitRequest(value: unknown): CommitRequest {
  const { operations } = checkFields("commit", value);
  if (!Array.isArray(operations) || operations.length < 1 || operations.length > MAX_OPERATIONS) {
    const given = Array.isArray(operations) ? `${operations.length} operations` : describe(operations);
    throw new InvalidArgumentError(
      `A commit has 1 to ${MAX_OPERATIONS} operations, but this one has ${given}: divide larger ones.`,
      { limit: MAX_OPERATIONS },
    );
  }
  const stores = new Set<string>();
  for (const operation of operations) {
    checkOperation(operation);
    const { storeName, storeId } = operation as StoreKey; // Checked the line before.
    const store = `${storeName}\0${storeId}`; // Names and ids hold no NUL.
    if (stores.has(store)) {
      throw new InvalidArgumentError(
        `The store "${storeId}" of "${storeName}" is twice in one commit: make one operation of the two.`,
      );
    }
    stores.add(store);
  }
  return { operations: operations as CommitOperation[] }; // Each was checked above.
}

export function checkListRequest(value: unknown): ListStoresRequest {
  const fields = checkFields("list request", value);
  checkIdentifier("definition name", fields["storeName"]);
  if (fields["after"] !== undefined) checkIdentifier("store id to list after", fields["after"]);
  checkInteger("limit", fields["limit"], 1, MAX_PAGE);
  return fields as Fields & ListStoresRequest; // Its three fields were just checked.
}

export function checkChangesRequest(value: unknown): ReadChangesRequest {
  const fields = checkFields("changes request", value);
  checkInteger("sequence to read after", fields["after"], 0);
  checkInteger("limit", fields["limit"], 1, MAX_PAGE);
  return fields as Fields & ReadChangesRequest; // Its two fields were just checked.
}

export function checkWaiterRegistration(value: unknown): WaiterRegistration {
  const fields = checkFields("waiter", value);
  checkStoreKey(fields);
  checkStep(fields);
  checkIdentifier("workflow id", fields["workflowId"]);
  checkIdentifier("instance id", fields["instanceId"]);
  checkInteger("version waited from", fields["sinceVersion"], 0);
  checkPaths("read paths", fields["readPaths"]);
  return fields as Fields & WaiterRegistration; // All its fields were just checked.
}

export function checkReadWakesRequest(value: unknown): ReadWakesRequest {
  const fields = checkFields("wakes request", value);
  checkInteger("limit", fields["limit"], 1, MAX_PAGE);
  if (typeof fields["claim"] !== "boolean") {
    throw new InvalidArgumentError(`The field "claim" must be true or false, but it is ${describe(fields["claim"])}.`);
  }
  return fields as Fields & ReadWakesRequest; // Its two fields were just checked.
}

export function checkAcknowledgement(value: unknown): { readonly executionId: string; readonly generation: number } {
  const { executionId, generation } = checkFields("acknowledgement", value);
  checkIdentifier("execution id", executionId);
  return { executionId, generation: checkInteger("generation", generation, 0) };
}

export function checkRelease(value: unknown): { readonly executionId: string } {
  const { executionId } = checkFields("release", value);
  checkIdentifier("execution id", executionId);
  return { executionId };
}

export function checkExecutionId(value: unknown): string {
  checkIdentifier("execution id", value);
  return value;
}

function checkOperation(value: unknown): void {
  const fields = checkFields("operation", value);
  const { type } = fields;
  if (!OPERATION_TYPES.has(type)) {
    throw new InvalidArgumentError(`An operation is one of ${list(OPERATION_TYPES)}, not ${describe(type)}.`);
  }
  checkStoreKey(fields);
  checkInteger("definition version", fields["definitionVersion"], 0);
  if (fields["step"] !== undefined) checkStepRecord(fields["step"]);
  if (type === "replace" || type === "delete") {
    const { instanceId, version } = checkFields("expected version", fields["expected"]);
    checkIdentifier("instance id", instanceId);
    // One below the largest: the commit writes the next.
    checkInteger("version", version, 0, Number.MAX_SAFE_INTEGER - 1);
  }
  if (type === "create") {
    if (typeof fields["instanceId"] !== "string" || !INSTANCE_ID.test(fields["instanceId"])) {
      throw new InvalidArgumentError(
        `The instance id must be a UUID of version 7 in lower case, but it is ${describe(fields["instanceId"])}.`,
      );
    }
    checkInteger("version of a creation", fields["version"], 0, 1);
  }
  if (type === "create" || type === "replace") {
    checkCanonical("state", fields["state"]);
    checkPaths("changed paths", fields["changedPaths"]);
  }
}

function checkStep(value: unknown): StepId {
  const { executionId, stepKey } = checkFields("step", value);
  checkIdentifier("execution id", executionId);
  checkIdentifier("step key", stepKey);
  return { executionId, stepKey };
}

function checkStepRecord(value: unknown): void {
  const { operation, result } = checkFields("step", value);
  checkStep(value);
  if (!STEP_OPERATIONS.has(operation)) {
    throw new InvalidArgumentError(
      `The operation of a step is one of ${list(STEP_OPERATIONS)}, not ${describe(operation)}.`,
    );
  }
  checkCanonical("result of a step", result);
}

function checkPaths(what: string, value: unknown): void {
  const decoded = decodePaths(checkCanonical(what, value));
  if (decoded.status === "invalid") throw new InvalidArgumentError(`The ${what} are no paths. ${decoded.message}`);
}

/** JSON escapes NUL, where SQLite would end the text, and half surrogate pairs, which UTF-8 would merge. */
function checkCanonical(what: string, value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw new InvalidArgumentError(`The ${what} must be canonical JSON text, but it is ${describe(value)}.`);
  }
  // A unit is at most three bytes, so most texts are small enough at a glance.
  if (value.length * 3 > MAX_STATE_BYTES) {
    const bytes = utf8Length(value);
    if (bytes > MAX_STATE_BYTES) {
      throw new InvalidArgumentError(
        `The ${what} has ${bytes} bytes, and at most ${MAX_STATE_BYTES} are allowed: divide it among several stores.`,
        { bytes, limit: MAX_STATE_BYTES },
      );
    }
  }
  if (
    /^\ufeff|[\0\ud800-\udfff]/.test(value) &&
    /^\ufeff|\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)
  ) {
    throw new InvalidArgumentError(
      `The ${what} is not canonical JSON text: it holds NUL, half of a surrogate pair or a byte order mark, none of which JSON text holds.`,
    );
  }
  return value;
}

export function checkInteger(what: string, value: unknown, from: number, to: number = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= from && value <= to) return value;
  const range = to === Number.MAX_SAFE_INTEGER ? `from ${from}` : `from ${from} to ${to}`;
  throw new InvalidArgumentError(`The ${what} must be an integer ${range}, but it is ${describe(value)}.`);
}

export function checkFields(what: string, value: unknown): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields; // Any object is.
  throw new InvalidArgumentError(`The ${what} must be an object, but it is ${describe(value)}.`);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string")
    return value.length > 60 ? `a text of ${value.length} characters` : JSON.stringify(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}

function list(values: ReadonlySet<unknown>): string {
  return [...values].map((value) => `"${String(value)}"`).join(", ");
}
