/**
 * Every error the library raises on purpose, one class per kind.
 *
 * An error is told apart by its `code`, which is stable and survives the worker boundary; its message says what
 * happened and what to do, and may be reworded in any release. `toWire` and `fromWire` carry an error across that
 * boundary, since structured clone keeps only `name`, `message` and `stack`.
 */

/** Facts about an error beside its message. Only JSON values, so that they cross the worker boundary as they are. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The base class: `error instanceof WakefulError` is true for everything that this library raises on purpose. */
export class WakefulError extends Error {
  static readonly code: string = "unexpected";
  /** Stable, in kebab-case: what a program decides by. */
  readonly code: string;
  readonly details: ErrorDetails;

  constructor(message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = new.target.code;
    this.details = details;
    // Derived from the code and not from the class, because minifiers rename classes.
    this.name = `${this.code.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}Error`;
  }
}

/** One issue a schema found, with the path it found it at. */
export interface ValidationIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** The schema refused a state. Nothing was written. `issues` are the schema's own words. */
export class ValidationFailedError extends WakefulError {
  static override readonly code = "validation-failed";
  get issues(): readonly ValidationIssue[] {
    return (this.details["issues"] as readonly ValidationIssue[] | undefined) ?? [];
  }
}

/** A value cannot be stored as JSON without loss. `path` leads to the culprit. Nothing was written. */
export class ValueNotDurableError extends WakefulError {
  static override readonly code = "value-not-durable";
  get path(): readonly (string | number)[] {
    return (this.details["path"] as readonly (string | number)[] | undefined) ?? [];
  }
}

/** An argument is of the wrong shape, too long or too large. Nothing was written. */
export class InvalidArgumentError extends WakefulError {
  static override readonly code = "invalid-argument";
}

/** A call lost a hundred races in a row on one store. Nothing was written by it; it may be repeated. */
export class StoreChangedTooOftenError extends WakefulError {
  static override readonly code = "store-changed-too-often";
}

/** A callback did what an updater, selector or claim must not do. Nothing was written. */
export class DraftMisuseError extends WakefulError {
  static override readonly code = "draft-misuse";
}

/** A step id was used before for another operation or other stores. Nothing was written. */
export class ReceiptMismatchError extends WakefulError {
  static override readonly code = "receipt-mismatch";
}

/** The execution of this step id was forgotten: whether the step was applied is no longer known, so it is refused. */
export class ExecutionForgottenError extends WakefulError {
  static override readonly code = "execution-forgotten";
}

/** The caller's signal aborted before anything was sent. `cause` is the signal's reason. Nothing was written. */
export class AbortedError extends WakefulError {
  static override readonly code = "aborted";
}

/** The owner was lost while this write was in flight and had no step id: it may or may not have been applied. */
export class OutcomeUnknownError extends WakefulError {
  static override readonly code = "outcome-unknown";
}

/** A row is older than the running definition and cannot be brought up to it. The row stays as it is. */
export class MigrationFailedError extends WakefulError {
  static override readonly code = "migration-failed";
}

/** A row was written by a newer definition than the running code has. Reload the app; the row stays as it is. */
export class DefinitionOutdatedError extends WakefulError {
  static override readonly code = "definition-outdated";
}

/** The change feed was asked for changes older than it keeps. Read the stores anew and go on from `oldest`. */
export class ChangesTrimmedError extends WakefulError {
  static override readonly code = "changes-trimmed";
  /** The oldest sequence that can still be read with `after: oldest - 1`. */
  get oldest(): number {
    return (this.details["oldest"] as number | undefined) ?? 0;
  }
}

/** The device or the origin's quota is full. The commit was rolled back whole; free space and repeat it. */
export class StorageFullError extends WakefulError {
  static override readonly code = "storage-full";
}

/** Why storage cannot be had: the platform lacks it, forbids it, another holder has it, or it failed otherwise. */
export type StorageUnavailableReason = "unsupported" | "blocked" | "busy" | "failed";

/** Durable storage cannot be opened here. `reason` says why; `cause` is the platform's own error. */
export class StorageUnavailableError extends WakefulError {
  static override readonly code = "storage-unavailable";
  get reason(): StorageUnavailableReason {
    return (this.details["reason"] as StorageUnavailableReason | undefined) ?? "failed";
  }
}

/** The database file is damaged. Its bytes are left as they are. */
export class StorageDamagedError extends WakefulError {
  static override readonly code = "storage-damaged";
}

/** The database was migrated by a newer build of this library. Nothing was written; reload the app. */
export class DatabaseNewerError extends WakefulError {
  static override readonly code = "database-newer";
}

/** Another tab runs an incompatible newer build. Reload this one. */
export class ClientOutdatedError extends WakefulError {
  static override readonly code = "client-outdated";
}

/** No tab owns the database and none could take it within `ownerTimeout`. */
export class NoOwnerError extends WakefulError {
  static override readonly code = "no-owner";
}

/** A tab owns the database and did not answer within `ownerTimeout`; it may be frozen. */
export class OwnerUnresponsiveError extends WakefulError {
  static override readonly code = "owner-unresponsive";
}

/** An export or import ended before it was done: its owner was lost, or it stood still for too long. Nothing was changed. */
export class TransferInterruptedError extends WakefulError {
  static override readonly code = "transfer-interrupted";
}

/** What was to be imported is no database of this library, or is damaged. Nothing was changed. */
export class ImportRefusedError extends WakefulError {
  static override readonly code = "import-refused";
}

/** The stores were closed. */
export class ClosedError extends WakefulError {
  static override readonly code = "closed";
}

/** A message or request is not of this protocol. It was dropped and nothing was written. */
export class ProtocolViolationError extends WakefulError {
  static override readonly code = "protocol-violation";
}

type ErrorClass = {
  readonly code: string;
  new (message: string, details?: ErrorDetails, options?: ErrorOptions): WakefulError;
};

const byCode: ReadonlyMap<string, ErrorClass> = new Map(
  (
    [
      ValidationFailedError,
      ValueNotDurableError,
      InvalidArgumentError,
      StoreChangedTooOftenError,
      DraftMisuseError,
      ReceiptMismatchError,
      ExecutionForgottenError,
      AbortedError,
      OutcomeUnknownError,
      MigrationFailedError,
      DefinitionOutdatedError,
      ChangesTrimmedError,
      StorageFullError,
      StorageUnavailableError,
      StorageDamagedError,
      DatabaseNewerError,
      ClientOutdatedError,
      NoOwnerError,
      OwnerUnresponsiveError,
      TransferInterruptedError,
      ImportRefusedError,
      ClosedError,
      ProtocolViolationError,
    ] satisfies ErrorClass[]
  ).map((type) => [type.code, type]),
);

/** An error as it crosses the worker boundary. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly details: ErrorDetails;
  readonly cause?: { readonly name: string; readonly message: string };
}

/** The form of `error` that crosses the boundary. What this library did not raise travels as code `unexpected`. */
export function toWire(error: unknown): WireError {
  const known = error instanceof WakefulError;
  const cause = known ? error.cause : error;
  return {
    code: known ? error.code : WakefulError.code,
    message: error instanceof Error ? error.message : String(error),
    details: known ? error.details : {},
    ...(cause instanceof Error ? { cause: { name: cause.name, message: cause.message } } : {}),
  };
}

/** The error that `toWire` was given, rebuilt by its code on this side of the boundary. */
export function fromWire(wire: WireError): WakefulError {
  const type = byCode.get(wire.code) ?? WakefulError;
  const options: ErrorOptions = {};
  if (wire.cause !== undefined) {
    const cause = new Error(wire.cause.message);
    cause.name = wire.cause.name;
    options.cause = cause;
  }
  return new type(wire.message, wire.details, options);
}
