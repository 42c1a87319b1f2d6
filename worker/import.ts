/**
 * Putting the content of another database in the place of this one's: staged in a file beside it, checked there, and
 * copied in one transaction.
 *
 * I1  Until the transaction nothing of the database is touched, and after a failure nothing of it has changed.
 * I2  What is copied has exactly the tables of this build, once it was migrated: a file with anything else is refused.
 * I3  Sessions and their records stay: a commit of before is still answered from its record. So does the epoch.
 * I4  The sequence goes on ascending, over a gap, so that whoever follows the feed learns that it missed something.
 * I5  The transfer is part of the database's id from then on: clients drop what they know, and one that lost its owner
 *     finds out whether the import was done.
 */
import { DatabaseNewerError, ImportRefusedError, StorageFullError } from "../src/protocol/errors.js";
import { type IntegrityPart, lineOf, SLICE_BYTES } from "../src/protocol/transfer.js";
import type { Database, Staging } from "./database.js";
import { withoutLog } from "./export.js";
import { checkIntegrity } from "./integrity.js";
import { migrate } from "./migrations.js";

/** What belongs to this database and not to its content. */
const OWN_TABLES: readonly string[] = ["meta", "sessions", "session_calls", "changes"];

export class Import {
  readonly #database: Database;
  readonly #staging: Staging;
  #received = 0;
  /** Parts of the check that are done; null: it has not begun. */
  #checked: { readonly parts: number; done: number } | null = null;

  constructor(database: Database) {
    this.#database = database;
    this.#staging = database.openStaging();
  }

  write(offset: number, bytes: Uint8Array<ArrayBuffer>): void {
    if (offset > this.#received || bytes.length > SLICE_BYTES || this.#checked !== null) {
      throw refused("its slices came out of order");
    }
    if (offset === 0 && !hasHeader(bytes)) throw refused("it is no SQLite database");
    this.#staging.bytes.write(offset, withoutLog(offset, bytes));
    this.#received = Math.max(this.#received, offset + bytes.length);
  }

  check(part: number): IntegrityPart {
    return refusing(() => {
      if (part === 0) this.#prepare();
      const checked = checkIntegrity(this.#staging, part);
      if (checked.problems.length > 0) throw refused(`it is damaged: ${checked.problems[0]}`);
      this.#checked ??= { parts: checked.parts, done: 0 };
      if (this.#checked.done === part) this.#checked.done += 1;
      return checked;
    });
  }

  /** I1. The host on the database must not go on: what it keeps in memory is of before. */
  finish(transfer: string): void {
    if (this.#checked?.done !== this.#checked?.parts) throw refused("its slices came out of order");
    this.#database.withStaged(() => this.#database.transaction(() => replaceContent(this.#database, transfer)));
  }

  end(): void {
    this.#database.removeStaging(this.#staging);
  }

  #prepare(): void {
    const staging = this.#staging;
    // It is thrown away if anything fails: it needs no journal. Nothing in a file from outside is run as code.
    staging.script("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF");
    if (staging.get("SELECT 1 FROM sqlite_schema WHERE name = 'meta'") === undefined) {
      throw refused("it is of something else");
    }
    migrate(staging);
    const [own, other] = [this.#database, staging].map((database) =>
      JSON.stringify(database.all("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")),
    );
    if (own !== other) throw refused("its tables are not this build's");
    if (staging.get("SELECT 1 FROM stores WHERE NOT json_valid(state) LIMIT 1")) {
      throw refused("a state in it is not JSON");
    }
  }
}

/** Call it in a transaction, while the other content can be named as `staged`. */
function replaceContent(database: Database, transfer: string): void {
  const tables = database.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name } of tables) {
    if (OWN_TABLES.includes(name)) continue;
    database.script(`DELETE FROM main."${name}"; INSERT INTO main."${name}" SELECT * FROM staged."${name}"`);
  }
  // I4: the newest change of either stays, since it is what the sequence is known by, and moves past both.
  database.script(`
    INSERT INTO main.changes
      SELECT (SELECT max(sequence) FROM (SELECT sequence FROM main.changes UNION ALL SELECT sequence FROM staged.changes)) + 2,
        0, (SELECT coalesce(max(ordinal), 0) FROM main.changes) + 1, store_name, store_id, instance_id, version, deleted,
        origin, changed_paths
      FROM (SELECT 1 AS rank, * FROM staged.changes UNION ALL SELECT 2, * FROM main.changes)
      ORDER BY rank, sequence DESC, position DESC LIMIT 1;
    DELETE FROM main.changes WHERE sequence < (SELECT max(sequence) FROM main.changes);
  `);
  const { id = "" } = database.get<{ id: string }>("SELECT database_id AS id FROM meta") ?? {};
  database.run("UPDATE meta SET database_id = ?", `${lineOf(id)}.${transfer}`);
}

function hasHeader(bytes: Uint8Array): boolean {
  return bytes.length >= 512 && String.fromCharCode(...bytes.subarray(0, 16)) === "SQLite format 3\0";
}

/** What SQLite says of the file is about that file and not about this database. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const isOfAnotherKind =
      error instanceof DatabaseNewerError || error instanceof ImportRefusedError || error instanceof StorageFullError;
    throw isOfAnotherKind
      ? error
      : refused(`it is damaged: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

function refused(why: string, cause?: unknown): ImportRefusedError {
  return new ImportRefusedError(
    `This file cannot be imported: ${why}. Nothing was changed; import what stores.export() made.`,
    {},
    { cause },
  );
}
