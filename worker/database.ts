/**
 * One SQLite database: opening it in memory or on OPFS, its statements, its transactions. Knows nothing of stores.
 *
 * Owns: the connection, the prepared statements, the journal mode, and the mapping of every failure to a public error.
 * Does not own the lock that says who may open (whoever calls holds it), nor tables (migrations.ts).
 *
 * D1  On OPFS: locking_mode EXCLUSIVE before journal_mode WAL, and the mode that came back is what counts; if it is not
 *     WAL, rollback journals that persist, fully synchronous. No other mode.
 * D2  A transaction is one synchronous function: it is committed when that returns, rolled back when it throws, and
 *     nothing else can come between. What was thrown first is what the caller gets.
 * D3  After a statement failed inside a transaction no other one runs in it: SQLite may have rolled the whole of it
 *     back, and the next statement would commit alone.
 * D4  A commit that failed is not in the file; where that cannot be made certain it is reported as of unknown outcome,
 *     and the connection is unusable. Never is it reported as rolled back and found after a crash.
 */
import sqlite3InitModule, {
  type Database as Connection,
  type PreparedStatement,
  type SAHPoolUtil,
  type Sqlite3Static,
} from "@sqlite.org/sqlite-wasm";
import { ClosedError, OutcomeUnknownError, StorageFullError, StorageUnavailableError } from "../src/protocol/errors.js";
import type { Durability } from "../src/protocol/events.js";
import { DatabaseFile } from "./database-file.js";
import { acquirePool, declarePowersafeOverwrite, type Sqlite } from "./opfs-pool.js";
import { platformFailure, storageFailure, unavailable } from "./sqlite-failure.js";

/** What a column holds and a parameter takes. */
export type SqlValue = string | number | null;

export interface Database {
  readonly kind: "opfs" | "memory";
  /** As SQLite reports it: "wal", "persist", or "memory". */
  readonly journalMode: string;
  readonly durability: Durability;
  /** False after a failure that only opening the database again can settle (D4): every call throws then. */
  readonly usable: boolean;
  /** Runs one statement; answers how many rows it changed. */
  run(sql: string, ...parameters: readonly SqlValue[]): number;
  /** The first row, its columns by name. `Row` is what the statement selects. */
  get<Row extends object>(sql: string, ...parameters: readonly SqlValue[]): Row | undefined;
  all<Row extends object>(sql: string, ...parameters: readonly SqlValue[]): Row[];
  /** Runs statements that take no parameters, as migrations have. */
  script(sql: string): void;
  /** Runs `work` in one immediate transaction (D2). `work` must be synchronous and must not open another. */
  transaction<T>(work: () => T): T;
  setDurability(durability: Durability): void;
  /** The file of the database or of its log, below SQLite. A database in memory has none. */
  file(which: "database" | "log"): DatabaseFile;
  /** The whole database as the bytes of its file, all in memory at once. */
  serialize(): Uint8Array<ArrayBuffer>;
  /** Opens the file beside this one in which an import is prepared. Nothing is read from it before the first statement. */
  openStaging(): Staging;
  /** Runs `work` while what is in the staging file can be named as the schema `staged`. */
  withStaged(work: () => void): void;
  /** Closes the staging file, empties it and gives it back. */
  removeStaging(staging: Staging): void;
  /** Closes the connection and gives the files back. Idempotent; whatever is called after it throws ClosedError. */
  close(): void;
}

/** A database that is being prepared to take the place of another one's content. */
export interface Staging extends Database {
  /** Where its bytes go before it is read. */
  readonly bytes: DatabaseFile;
}

export type { Sqlite };

export interface LoadOptions {
  /** Where sqlite3.wasm is, if not beside sqlite-wasm's own module, where bundlers put it. */
  readonly wasmUrl?: string;
}

let loading: Promise<Sqlite> | undefined;

/**
 * Loads SQLite, once per worker or process.
 *
 * @throws StorageUnavailableError when the WebAssembly cannot be fetched or compiled; calling again tries again
 */
export function loadSqlite(options: LoadOptions = {}): Promise<Sqlite> {
  loading ??= load(options).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load({ wasmUrl }: LoadOptions): Promise<Sqlite> {
  const platformErrors = new Map<string, Error>();
  const silent = (): void => {};
  // Read by sqlite-wasm while it starts, and removed by it.
  Object.assign(globalThis, {
    sqlite3ApiConfig: {
      debug: silent,
      log: silent,
      warn: silent,
      error: (source: unknown, error: unknown): void => {
        if (typeof source === "string" && error instanceof Error) platformErrors.set(source.replace(/:$/, ""), error);
      },
      // The VFSs that are not used; "opfs" would start a worker of its own where the page is cross-origin isolated.
      disable: { vfs: { kvvfs: true, opfs: true, "opfs-vfs": true, "opfs-wl": true } },
    },
  });
  // The library's types hide that its initialiser takes Emscripten's module options.
  const initialise = sqlite3InitModule as (options: object) => Promise<Sqlite3Static>;
  try {
    const module = await initialise({
      print: silent,
      printErr: silent,
      ...(wasmUrl === undefined ? {} : { locateFile: () => wasmUrl }),
    });
    return { module, platformErrors };
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(String(error));
    throw new StorageUnavailableError(
      `SQLite could not be loaded (${cause.message}). Check that sqlite3.wasm is served, or say where with wasmUrl.`,
      { reason: "failed" },
      { cause },
    );
  }
}

/** A database that is gone when it is closed. */
export function openMemoryDatabase(sqlite: Sqlite): Database {
  const connection = new sqlite.module.oo1.DB(":memory:");
  const database = new SqliteDatabase(sqlite, connection, "memory", null);
  database.prepareStorage("relaxed");
  return database;
}

export interface OpfsOptions {
  readonly name: string;
  readonly durability: Durability;
}

/**
 * Opens the database `name` of this origin, creating it if there is none. Call it only while holding the lock of that
 * name. Never deletes anything: what cannot be opened stays as it is.
 *
 * @throws StorageUnavailableError with its reason, StorageDamagedError, StorageFullError
 */
export async function openOpfsDatabase(sqlite: Sqlite, { name, durability }: OpfsOptions): Promise<Database> {
  const pool = await acquirePool(sqlite.module, name);
  let database: SqliteDatabase | undefined;
  try {
    const connection = new pool.OpfsSAHPoolDb("/stores.db");
    database = new SqliteDatabase(sqlite, connection, "opfs", pool);
    declarePowersafeOverwrite(sqlite.module, connection);
    database.prepareStorage(durability);
    // Of an import whose owner was lost.
    if (pool.getFileNames().includes(STAGING)) database.removeStaging(database.openStaging());
    return database;
  } catch (error) {
    const failure = failureOf(error, sqlite.platformErrors.get(pool.vfsName));
    try {
      if (database === undefined) pool.pauseVfs();
      else database.close();
    } catch {
      // A connection that this worker had before keeps the files, and says so in what is thrown here.
    }
    throw failure;
  }
}

/** The staging file's path in the pool. */
const STAGING = "/import.db";
/** In memory: SQLite's own VFS there, in which connections find a database by its name. */
const STAGING_IN_MEMORY = "file:/wakeful-import?vfs=memdb";

interface Statement {
  readonly prepared: PreparedStatement;
  readonly columns: readonly string[];
}

class SqliteDatabase implements Database {
  readonly kind: "opfs" | "memory";
  readonly #sqlite: Sqlite;
  readonly #connection: Connection;
  readonly #pool: SAHPoolUtil | null;
  /** Whether closing this connection gives the files back. */
  readonly #poolIs: "owned" | "borrowed";
  readonly #statements = new Map<string, Statement>();
  #journalMode = "memory";
  #durability: Durability = "strict";
  #closed = false;
  #inTransaction = false;
  /** D3: what the transaction that is open failed with. */
  #failure: Error | undefined;
  /** D4: why this connection must not be used any more. */
  #unusable: Error | undefined;

  constructor(
    sqlite: Sqlite,
    connection: Connection,
    kind: "opfs" | "memory",
    pool: SAHPoolUtil | null,
    poolIs: "owned" | "borrowed" = "owned",
  ) {
    this.#poolIs = poolIs;
    this.#sqlite = sqlite;
    this.#connection = connection;
    this.kind = kind;
    this.#pool = pool;
  }

  get journalMode(): string {
    return this.#journalMode;
  }

  get durability(): Durability {
    return this.#durability;
  }

  get usable(): boolean {
    return !this.#closed && this.#unusable === undefined;
  }

  prepareStorage(durability: Durability): void {
    // First of all: a WAL database cannot be read before, since the pool has no shared memory.
    if (this.kind === "opfs") this.#pragma("locking_mode = EXCLUSIVE");
    // Before the first page is written; a database that exists keeps its own.
    this.#pragma("page_size = 8192");
    this.#pragma("temp_store = MEMORY");
    this.#pragma("cache_size = -16384");
    this.#pragma("trusted_schema = OFF");
    if (this.kind === "opfs") {
      this.#journalMode = this.#pragma("journal_mode = WAL");
      if (this.#journalMode === "wal") {
        this.#pragma("wal_autocheckpoint = 1000");
        this.#pragma(`journal_size_limit = ${16 * 1024 * 1024}`);
      } else {
        this.#journalMode = this.#pragma("journal_mode = PERSIST");
      }
    }
    this.setDurability(durability);
  }

  setDurability(durability: Durability): void {
    // Without WAL only full synchronisation keeps the file whole when power is lost.
    const relaxed = durability === "relaxed" && this.#journalMode !== "persist";
    this.#pragma(`synchronous = ${relaxed ? "NORMAL" : "FULL"}`);
    this.#durability = relaxed ? "relaxed" : "strict";
  }

  run(sql: string, ...parameters: readonly SqlValue[]): number {
    return this.#execute(sql, parameters, ({ prepared }) => {
      prepared.step();
      return this.#sqlite.module.capi.sqlite3_changes(this.#connection);
    });
  }

  get<Row extends object>(sql: string, ...parameters: readonly SqlValue[]): Row | undefined {
    return this.#execute(sql, parameters, (statement) =>
      statement.prepared.step() ? readRow<Row>(statement) : undefined,
    );
  }

  all<Row extends object>(sql: string, ...parameters: readonly SqlValue[]): Row[] {
    return this.#execute(sql, parameters, (statement) => {
      const rows: Row[] = [];
      while (statement.prepared.step()) rows.push(readRow<Row>(statement));
      return rows;
    });
  }

  script(sql: string): void {
    this.#guarded(() => this.#connection.exec(sql));
  }

  transaction<T>(work: () => T): T {
    if (this.#inTransaction) throw new Error("A transaction is open: one cannot be opened inside another.");
    this.run("BEGIN IMMEDIATE");
    this.#inTransaction = true;
    let result: T;
    try {
      result = work();
      if (this.#failure !== undefined) throw this.#failure;
    } catch (error) {
      const first = this.#failure ?? error;
      this.#endTransaction();
      this.#rollBack();
      throw first;
    }
    this.#endTransaction();
    try {
      this.run("COMMIT");
    } catch (error) {
      this.#rollBack();
      throw this.#settleFailedCommit(error);
    }
    return result;
  }

  file(which: "database" | "log"): DatabaseFile {
    return new DatabaseFile(this.#sqlite, this.#connection, which, this.#pool?.vfsName);
  }

  serialize(): Uint8Array<ArrayBuffer> {
    return this.#guarded(() => new Uint8Array(this.#sqlite.module.capi.sqlite3_js_db_export(this.#connection)));
  }

  openStaging(): Staging {
    const connection = this.#guarded(() =>
      this.#pool === null ? new this.#sqlite.module.oo1.DB(STAGING_IN_MEMORY) : new this.#pool.OpfsSAHPoolDb(STAGING),
    );
    const staging = new SqliteDatabase(this.#sqlite, connection, "memory", this.#pool, "borrowed");
    return Object.assign(staging, { bytes: staging.file("database") });
  }

  withStaged(work: () => void): void {
    this.script(`ATTACH '${this.#pool === null ? STAGING_IN_MEMORY : STAGING}' AS staged`);
    try {
      work();
    } finally {
      this.script("DETACH staged");
    }
  }

  removeStaging(staging: Staging): void {
    // Emptied first: of a file without a name that is not empty nobody could tell whether it is a database.
    staging.bytes.truncate();
    staging.close();
    this.#pool?.unlink(STAGING);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { prepared } of this.#statements.values()) prepared.finalize();
    this.#statements.clear();
    this.#connection.close();
    if (this.#poolIs === "owned") this.#pool?.pauseVfs();
  }

  #endTransaction(): void {
    this.#inTransaction = false;
    this.#failure = undefined;
  }

  #rollBack(): void {
    try {
      // SQLite rolled back by itself where the failure left it no choice, such as a full disk.
      if (this.#sqlite.module.capi.sqlite3_get_autocommit(this.#connection) === 0) this.run("ROLLBACK");
    } catch (error) {
      this.#unusable = error instanceof Error ? error : new Error(String(error));
    }
  }

  /**
   * The error to report for a COMMIT that failed (D4). A full disk refused a write, and the last write is what completes
   * a commit: it is not in the log. After any other failure its frames may be there, complete; in this connection they
   * do not count, but after a crash they would. An empty commit takes their place. If that fails too, only opening again
   * can tell.
   */
  #settleFailedCommit(error: unknown): unknown {
    if (this.#journalMode !== "wal" || error instanceof StorageFullError || this.#unusable !== undefined) return error;
    try {
      const { user_version } = this.get<{ user_version: number }>("PRAGMA user_version") ?? { user_version: 0 };
      // Setting it to what it is writes the first page all the same.
      this.script(`BEGIN IMMEDIATE; PRAGMA user_version = ${user_version}; COMMIT`);
      return error;
    } catch {
      this.#unusable = error instanceof Error ? error : new Error(String(error));
      return new OutcomeUnknownError(
        `A commit failed (${this.#unusable.message}) and may be in the file all the same. Open the database again and look.`,
        {},
        { cause: this.#unusable },
      );
    }
  }

  #pragma(setting: string): string {
    const answer = this.#guarded(() => this.#connection.selectValue(`PRAGMA ${setting}`));
    return typeof answer === "string" ? answer : "";
  }

  #execute<T>(sql: string, parameters: readonly SqlValue[], step: (statement: Statement) => T): T {
    return this.#guarded(() => {
      const statement = this.#statement(sql);
      try {
        for (const [index, value] of parameters.entries()) statement.prepared.bind(index + 1, value);
        return step(statement);
      } finally {
        // Not `reset`, which throws the error of the step again. Bound text stays until it is bound anew.
        statement.prepared.resetNoThrow();
      }
    });
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      const prepared = this.#connection.prepare(sql);
      statement = { prepared, columns: prepared.columnCount === 0 ? [] : prepared.getColumnNames() };
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guarded<T>(action: () => T): T {
    if (this.#closed) throw new ClosedError("The database was closed: open it again.");
    if (this.#unusable !== undefined) throw unavailable("failed", this.#unusable);
    if (this.#failure !== undefined) throw this.#failure;
    const vfs = this.#pool?.vfsName;
    if (vfs !== undefined) this.#sqlite.platformErrors.delete(vfs);
    try {
      return action();
    } catch (error) {
      const platformError = vfs === undefined ? undefined : this.#sqlite.platformErrors.get(vfs);
      const failure = failureOf(error, platformError);
      if (this.#inTransaction) this.#failure = failure;
      throw failure;
    }
  }
}

function readRow<Row>({ prepared, columns }: Statement): Row {
  const row: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) row[column] = prepared.get(index);
  // The caller wrote the statement and names its columns; SQLite's STRICT tables keep their types.
  return row as Row;
}

function failureOf(error: unknown, platformError: Error | undefined): Error {
  if (error instanceof Error && "resultCode" in error && typeof error.resultCode === "number") {
    return storageFailure(error.resultCode, error, platformError);
  }
  return platformFailure(error);
}
