/**
 * Exports and imports on their way.
 *
 * Owns: the one transfer that runs, and its end. Does not own: what an export reads (export.ts), what an import replaces
 * (import.ts).
 *
 * X1  One transfer at a time. It ends by its session, with that session, with this owner, or when it stands still.
 * X2  After its end nothing of it is left, and a call of it gets TransferInterruptedError.
 */
import { InvalidArgumentError, StorageUnavailableError, TransferInterruptedError } from "../src/protocol/errors.js";
import type { IntegrityPart, TransferBegun, TransferMethod } from "../src/protocol/transfer.js";
import { checkFields, checkInteger } from "./check-request.js";
import type { Database } from "./database.js";
import { type Export, openExport } from "./export.js";
import { Import } from "./import.js";
import { checkIntegrity } from "./integrity.js";

/** Milliseconds without a call after which a transfer is given up. */
const PATIENCE_MS = 60_000;
/** Bytes that the log may grow to while an export holds it. */
const MAX_LOG_BYTES: number = 128 * 1024 * 1024;
const LOOK_EVERY_MS = 1000;

interface Transfer {
  readonly id: string;
  readonly session: string;
  readonly work: Export | Import;
  readonly looking: ReturnType<typeof setInterval>;
  used: number;
}

export interface TransfersOptions {
  readonly databaseId: string;
  /** Sequence of the newest commit. */
  readonly head: () => number;
  /** An import has replaced the content: nothing that was known of it counts any more. */
  readonly replaced: () => void;
  /** The database was found to be damaged. */
  readonly damaged: (problem: string) => void;
}

export class Transfers {
  readonly #database: Database;
  readonly #options: TransfersOptions;
  #running: Transfer | null = null;

  constructor(database: Database, options: TransfersOptions) {
    this.#database = database;
    this.#options = options;
  }

  call(session: string, method: TransferMethod, body: unknown): unknown {
    switch (method) {
      case "beginTransfer":
        return this.#begin(session, body);
      case "checkIntegrity":
        return this.#checkIntegrity(checkInteger("part", body, 0));
      case "endTransfer":
        if (this.#running?.id === body) this.close();
        return;
      case "finishImport":
        return this.#finish(session, body);
    }
    const fields = checkFields("transfer", body);
    const { work } = this.#find(session, fields["transfer"]);
    if (method === "checkImport" && work instanceof Import) return work.check(checkInteger("part", fields["part"], 0));
    const offset = checkInteger("offset", fields["offset"], 0);
    if (method === "readExport" && !(work instanceof Import)) return work.read(offset);
    const { bytes } = fields;
    if (method === "writeImport" && work instanceof Import && bytes instanceof Uint8Array) {
      // Whatever crosses by a message is a copy, and never of shared memory.
      return work.write(offset, bytes as Uint8Array<ArrayBuffer>);
    }
    throw unfit();
  }

  endSession(session: string): void {
    if (this.#running?.session === session) this.close();
  }

  /** Ends what runs. */
  close(): void {
    if (this.#running === null) return;
    const { looking, work } = this.#running;
    this.#running = null;
    clearInterval(looking);
    try {
      work.end();
    } catch {
      // The storage fails. The next owner opens the database without a transfer, and removes what is left of this one.
    }
  }

  #begin(session: string, kind: unknown): TransferBegun {
    if (kind !== "export" && kind !== "import") throw unfit();
    if (this.#running !== null) return { status: "busy" };
    const work = kind === "export" ? openExport(this.#database) : new Import(this.#database);
    const id = crypto.randomUUID();
    const looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#running = { id, session, work, looking, used: performance.now() };
    return {
      status: "begun",
      transfer: id,
      bytes: work instanceof Import ? 0 : work.bytes,
      sequence: this.#options.head(),
    };
  }

  #find(session: string, id: unknown): Transfer {
    const transfer = this.#running;
    if (transfer?.id !== id || transfer?.session !== session) {
      throw new TransferInterruptedError(
        "This export or import ended before it was done: its owner was lost, or it stood still. Nothing was changed; begin again.",
      );
    }
    transfer.used = performance.now();
    return transfer;
  }

  #finish(session: string, id: unknown): void {
    // Asked again, since the answer of an owner that is gone was lost (import.ts I5).
    if (typeof id === "string" && this.#options.databaseId.endsWith(`.${id}`)) return;
    const { work } = this.#find(session, id);
    if (!(work instanceof Import)) throw unfit();
    if (this.#database.kind === "memory") {
      throw new StorageUnavailableError("A database in memory only takes no import.", {
        reason: "unsupported",
      });
    }
    work.finish(String(id));
    this.close();
    this.#options.replaced();
  }

  #checkIntegrity(part: number): IntegrityPart {
    const checked = checkIntegrity(this.#database, part);
    if (checked.problems[0] !== undefined) this.#options.damaged(checked.problems[0]);
    return checked;
  }

  #look(): void {
    const { used, work } = this.#running ?? {};
    if (used === undefined || work === undefined) return;
    const isTooLarge = !(work instanceof Import) && work.logBytes() > MAX_LOG_BYTES;
    if (isTooLarge || performance.now() - used > PATIENCE_MS) this.close();
  }
}

function unfit(): InvalidArgumentError {
  return new InvalidArgumentError("This call does not fit its transfer.");
}
