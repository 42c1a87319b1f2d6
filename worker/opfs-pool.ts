/**
 * The pool of OPFS files that one database lives in, by SQLite's own VFS `opfs-sahpool`.
 *
 * Owns: where the pool of a name is, when its file handles are taken and given back, and the refusal to take a pool
 * that would lose bytes by being taken. Does not own the lock that says who may open (call this only while holding
 * it), nor anything inside the database file.
 *
 * P1  Nothing here ever deletes or truncates a file. The stock pool does in two cases, and both are kept from
 *     happening: when its installation fails (`preserveOnInitFailure`), and when the header of a file is damaged
 *     (`findDamage` looks first).
 * P2  Each database name has a directory and a VFS of its own, and no two names share one.
 * P3  A pool that somebody else holds is tried again for `PATIENCE_MS`: a terminated worker that is busy keeps its
 *     handles for about two seconds.
 */
import type { Database as Connection, SAHPoolUtil, Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import { StorageDamagedError, StorageUnavailableError } from "../src/protocol/errors.js";
import {
  DATA_AT,
  escapeName,
  POOL_FOLDER,
  poolDirectory,
  readPoolHeader,
  SQLITE_MAGIC,
} from "../src/protocol/pool-layout.js";
import { platformFailure, unavailable } from "./sqlite-failure.js";

/** SQLite, loaded. */
export interface Sqlite {
  readonly module: Sqlite3Static;
  /** What the file system threw last, by VFS: the pool turns it into SQLITE_IOERR and keeps it from SQLite's caller. */
  readonly platformErrors: Map<string, Error>;
}

const PATIENCE_MS = 4000;
const PAUSE_MS = 25;

export { poolDirectory };

/** Files in a pool: database, WAL, rollback journal (while WAL is being turned on), and one to spare. */
const CAPACITY = 4;

/** Takes the pool of the database `name`, waiting for a holder that is about to be gone. */
export async function acquirePool(sqlite3: Sqlite3Static, name: string): Promise<SAHPoolUtil> {
  const { FileSystemFileHandle } = globalThis as { FileSystemFileHandle?: { prototype: object } };
  if (FileSystemFileHandle === undefined || !("createSyncAccessHandle" in FileSystemFileHandle.prototype)) {
    throw unavailable("unsupported", new Error("this context has no createSyncAccessHandle"));
  }
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await takePool(sqlite3, name);
    } catch (error) {
      const failure = platformFailure(error);
      if (!mayPass(failure) || performance.now() >= deadline) throw failure;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

const declared = new WeakSet<Sqlite3Static>();

/**
 * Tells SQLite that a write leaves the bytes around it alone even when power is lost (SQLITE_IOCAP_POWERSAFE_OVERWRITE),
 * which is SQLite's own assumption on every system whose files OPFS stands on, and which the pool does not pass on.
 *
 * Without it every commit pads the log with a second copy of its last page. That costs a sixth of the commits per second
 * (measured in Chromium), and a disk that is full in the middle of the padding leaves a complete commit in the log which
 * was reported as failed.
 *
 * @param connection to a database in a pool, not yet read: SQLite asks once, when it opens the log
 */
export function declarePowersafeOverwrite(sqlite3: Sqlite3Static, connection: Connection): void {
  if (declared.has(sqlite3)) return;
  declared.add(sqlite3);
  const { capi, wasm } = sqlite3;
  const stack = wasm.pstack.pointer;
  try {
    const pointer = wasm.pstack.allocPtr();
    capi.sqlite3_file_control(connection, "main", capi.SQLITE_FCNTL_FILE_POINTER, pointer);
    const file = new capi.sqlite3_file(wasm.peekPtr(pointer));
    // One table of methods for all files of all pools.
    const methods = new capi.sqlite3_io_methods(file.$pMethods);
    const characteristics = capi.SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN | capi.SQLITE_IOCAP_POWERSAFE_OVERWRITE;
    methods.installMethod("xDeviceCharacteristics", () => characteristics);
  } finally {
    wasm.pstack.restore(stack);
  }
}

async function takePool(sqlite3: Sqlite3Static, name: string): Promise<SAHPoolUtil> {
  const directory = poolDirectory(name);
  const damage = await findDamage(directory);
  if (damage !== undefined) {
    throw new StorageDamagedError(
      `The storage of "${name}" is damaged: ${damage}. Its files were left as they are: nothing was deleted.`,
    );
  }
  // In a variable of its own, since the library's types lack the last two.
  const options = {
    name: `wakeful-${escapeName(name)}`,
    directory,
    initialCapacity: CAPACITY,
    preserveOnInitFailure: true,
    forceReinitIfPreviouslyFailed: true,
    // Only errors: they go to the logger of database.ts, which keeps the newest to tell a full disk by.
    verbosity: 1,
  };
  const pool = await sqlite3.installOpfsSAHPoolVfs(options);
  // A pool that was given back in this worker is still known to SQLite, without its files.
  if (pool.isPaused()) await pool.unpauseVfs();
  await pool.reserveMinimumCapacity(CAPACITY);
  return pool;
}

/**
 * What a dying owner leaves for a moment: its handles, a header that it is writing, a file that changed while it was
 * looked at.
 */
function mayPass(failure: Error): boolean {
  if (failure instanceof StorageDamagedError) return true;
  if (!(failure instanceof StorageUnavailableError)) return false;
  const { name } = failure.cause as Error; // As `unavailable` makes it.
  return failure.reason === "busy" || name === "NotFoundError" || name === "NotReadableError";
}

/** Says what is wrong with the files of a pool that the stock pool would truncate by opening them; undefined: nothing. */
async function findDamage(directory: string): Promise<string | undefined> {
  const files = await openDirectory(`${directory}/${POOL_FOLDER}`);
  if (files === undefined) return undefined;
  const paths = new Set<string>();
  let remnant: number | undefined;
  for await (const entry of files.values()) {
    if (entry.kind !== "file") continue;
    const file = await entry.getFile();
    if (file.size <= DATA_AT) continue;
    const block = new Uint8Array(await file.slice(0, DATA_AT + SQLITE_MAGIC.length).arrayBuffer());
    const header = readPoolHeader(block);
    const isDatabase = String.fromCharCode(...block.subarray(DATA_AT)) === SQLITE_MAGIC;
    if (header.path === "" && !isDatabase) {
      remnant = file.size;
      continue;
    }
    if (header.path === "" || !header.valid) return headerDamage(file.size);
    paths.add(header.path);
  }
  // A journal whose removal was cut short has no path any more and keeps its content: finishing that loses nothing.
  // Where there is no database beside it, it may be the database itself, destroyed from its beginning.
  if (remnant !== undefined && paths.size === 0) return headerDamage(remnant);
  // SQLite deletes the log of a database that is missing or empty, and with it the newest commits.
  for (const path of paths) {
    const database = path.replace(/-wal$/, "");
    if (!paths.has(database)) return `the log of ${database} is there and its database is not`;
  }
  return undefined;
}

function headerDamage(size: number): string {
  return `the header of a file of ${size} bytes does not match its content`;
}

async function openDirectory(path: string): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    let directory = await navigator.storage.getDirectory();
    for (const segment of path.split("/")) directory = await directory.getDirectoryHandle(segment);
    return directory;
  } catch (error) {
    if (error instanceof Error && error.name === "NotFoundError") return undefined;
    throw error;
  }
}
