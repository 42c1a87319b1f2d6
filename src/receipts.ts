/**
 * What receipts hold: the results of calls with a step id, as canonical text, which a repeat returns verbatim.
 *
 * Texts are joined from parts that are canonical already; keys are written in the order of canonical JSON.
 */
import type { StepId, StepOperation, StepRecord } from "./protocol/connector.js";
import { ExecutionForgottenError, ReceiptMismatchError } from "./protocol/errors.js";
import { checkIdentifier } from "./protocol/limits.js";

/** What a receipt says, as a reading or a verdict tells it. */
export interface FoundReceipt {
  readonly operation: StepOperation;
  readonly result: string;
}

export function checkStepId(step: StepId | undefined): void {
  if (step === undefined) return;
  checkIdentifier("execution id", step.executionId);
  checkIdentifier("step key", step.stepKey);
}

/** The part of an operation that writes a receipt, if there is a step to write it for. */
export function stepRecord(
  step: StepId | undefined,
  operation: StepOperation,
  result: () => string,
): { readonly step?: StepRecord } {
  if (step === undefined) return {};
  const { executionId, stepKey } = step;
  return { step: { executionId, stepKey, operation, result: result() } };
}

/**
 * The result that a receipt recorded.
 *
 * @throws ReceiptMismatchError when it is that of another operation
 */
export function recordedResult<Result>(receipt: FoundReceipt, operation: StepOperation, step: StepId): Result {
  if (receipt.operation !== operation) throw mismatch(step, `it was used for ${receipt.operation}, not ${operation}`);
  return JSON.parse(receipt.result) as Result; // What the same operation wrote.
}

export function mismatch({ executionId, stepKey }: StepId, problem: string): ReceiptMismatchError {
  return new ReceiptMismatchError(
    `The step "${stepKey}" of "${executionId}" stands for another call: ${problem}. Give each call its own step key. Nothing was written.`,
    { executionId, stepKey },
  );
}

export function forgotten(step: Pick<StepId, "executionId">): ExecutionForgottenError {
  return new ExecutionForgottenError(
    `The execution "${step.executionId}" was forgotten: whether this step was applied is no longer known, so it is refused.`,
    { executionId: step.executionId },
  );
}

export function updateResult(state: string, previousVersion: number, version: number): string {
  return `{"previousVersion":${previousVersion},"state":${state},"version":${version}}`;
}

export function updateFromResult(state: string, previousVersion: number, version: number): string {
  return `{"previousVersion":${previousVersion},"state":${state},"updated":true,"version":${version}}`;
}

export function takeResult(selected: string, instanceId: string, version: number): string {
  return `{"instanceId":${JSON.stringify(instanceId)},"matched":true,"selected":${selected},"version":${version}}`;
}

export const deleteFromResult = '{"deleted":true}';

/**
 * One store's part of a transaction. `stores` says how many there were: with it, and with each of them having a receipt,
 * another set is noticed without writing the set into each.
 */
export function transactResult(state: string, previousVersion: number, version: number, stores: number): string {
  return `{"previousVersion":${previousVersion},"state":${state},"stores":${stores},"version":${version}}`;
}
