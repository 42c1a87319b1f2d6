/**
 * The database as the bytes of one file, as of the moment at which it was asked for, while commits go on.
 *
 * E1  The log is written back once, and then no more until the export ends: commits go to the log, and the file stays as
 *     it was. So an export needs no second copy, and stops the owner for one slice at a time.
 * E2  The log grows meanwhile. An export whose log becomes too large is ended (transfers.ts): it must not fill the disk.
 * E3  Without a log, in memory or where WAL cannot be had, the file changes with every commit: there it is copied at once.
 */
import { SLICE_BYTES } from "../src/protocol/transfer.js";
import type { Database } from "./database.js";

export interface Export {
  readonly bytes: number;
  /** Empty past the end. */
  read(offset: number): Uint8Array<ArrayBuffer>;
  /** Bytes in the log that wait for the end of this export. */
  logBytes(): number;
  end(): void;
}

export function openExport(database: Database): Export {
  if (database.journalMode !== "wal") {
    const copy = database.serialize();
    return {
      bytes: copy.length,
      read: (offset) => withoutLog(offset, copy.slice(offset, offset + SLICE_BYTES)),
      logBytes: () => 0,
      end: () => undefined,
    };
  }
  database.script("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0");
  const file = database.file("database");
  const bytes = file.size(); // Written back just now, it ends with its last page.
  const log = database.file("log");
  return {
    bytes,
    read: (offset) => withoutLog(offset, file.read(offset, Math.min(SLICE_BYTES, Math.max(0, bytes - offset)))),
    logBytes: () => log.size(),
    end: () => database.script("PRAGMA wal_autocheckpoint = 1000"),
  };
}

/** The file says in its header that its newest commits may be in a log. Alone it has none, and any SQLite opens it. */
export function withoutLog(offset: number, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (offset === 0 && bytes.length > 19) bytes[18] = bytes[19] = 1;
  return bytes;
}
