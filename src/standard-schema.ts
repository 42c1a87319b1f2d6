/** Runs a Standard Schema, whichever library made it. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { ValidationFailedError, type ValidationIssue } from "./protocol/errors.js";

/**
 * The schema's output for `value`. A promise only when the schema is asynchronous, so that a synchronous one leaves no
 * moment in which what was validated could be changed.
 *
 * @throws ValidationFailedError with the schema's issues
 */
export function validate<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
  storeName: string,
): Output | Promise<Output> {
  const result = schema["~standard"].validate(value);
  return result instanceof Promise
    ? result.then((settled) => outputOf(settled, storeName))
    : outputOf(result, storeName);
}

function outputOf<Output>(result: StandardSchemaV1.Result<Output>, storeName: string): Output {
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map(
    (issue): ValidationIssue => ({ message: issue.message, path: (issue.path ?? []).map(segmentOf) }),
  );
  const list = issues.map(({ message, path }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`));
  throw new ValidationFailedError(
    `The schema of "${storeName}" refused the state, and nothing was written: ${list.join("; ")}.`,
    { storeName, issues },
  );
}

function segmentOf(segment: PropertyKey | StandardSchemaV1.PathSegment): string | number {
  const key = typeof segment === "object" ? segment.key : segment;
  return typeof key === "symbol" ? String(key) : key;
}
