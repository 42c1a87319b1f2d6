/** What a failure of SQLite, or of the file system under it, means to an app: the mapping to the public errors. */
import {
  StorageDamagedError,
  StorageFullError,
  StorageUnavailableError,
  type StorageUnavailableReason,
  WakefulError,
} from "../src/protocol/errors.js";

// Primary result codes, from sqlite.org/rescode.html. They are a stable part of SQLite's interface.
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_NOMEM = 7;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

/** How the pool reports that `write` took fewer bytes than it was given; a file system does that when it is full. */
const SHORT_WRITE = "Unknown write() failure.";

/**
 * The error to throw for what SQLite threw.
 *
 * @param resultCode SQLite's (extended) result code
 * @param platformError what the file system threw last: the pool turns every exception into SQLITE_IOERR, and only
 * this still tells a full disk from a broken one
 */
export function storageFailure(resultCode: number, error: Error, platformError: Error | undefined): WakefulError {
  const primary = resultCode & 0xff;
  switch (primary) {
    case SQLITE_FULL:
      return storageFull(error);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return new StorageDamagedError(
        `The database file is damaged (${error.message}). Its bytes were left as they are: nothing was deleted.`,
        {},
        { cause: error },
      );
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (platformError !== undefined) return platformFailure(platformError);
      return unavailable("failed", error);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return unavailable("busy", error);
    case SQLITE_NOMEM:
      return unavailable("failed", error);
    default:
      // A mistake of this library: not of any kind that an app could act upon.
      return new WakefulError(`SQLite refused a statement: ${error.message}`, { resultCode }, { cause: error });
  }
}

/** The error to throw for what the file system itself threw. */
export function platformFailure(error: unknown): WakefulError {
  if (error instanceof WakefulError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  switch (cause.name) {
    case "QuotaExceededError":
      return storageFull(cause);
    case "SecurityError":
    case "NotAllowedError":
      return unavailable("blocked", cause);
    case "NotSupportedError":
      return unavailable("unsupported", cause);
    case "NoModificationAllowedError":
    case "InvalidStateError":
      return unavailable("busy", cause);
    default:
      return cause.message === SHORT_WRITE ? storageFull(cause) : unavailable("failed", cause);
  }
}

export function unavailable(reason: StorageUnavailableReason, cause: Error): StorageUnavailableError {
  const advice: Readonly<Record<StorageUnavailableReason, string>> = {
    unsupported: 'This browser has no file storage for workers: update it, or open with fallback "memory".',
    blocked: 'The browser forbids storage here: allow it for this site, or open with fallback "memory".',
    busy: "Another tab or worker holds the database: close it, or try again.",
    failed: "Try again; reload the page if it keeps failing.",
  };
  return new StorageUnavailableError(
    `The storage cannot be used (${cause.name}: ${cause.message}). ${advice[reason]}`,
    { reason },
    { cause },
  );
}

function storageFull(cause: Error): StorageFullError {
  return new StorageFullError(
    `There is no room left for this site's data (${cause.message}). Nothing was written: free space and try again.`,
    {},
    { cause },
  );
}
