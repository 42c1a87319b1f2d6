/**
 * What an app does with a database that is damaged: keep its bytes, read what can be read, begin afresh.
 *
 * R1  Nothing here changes a byte of the files. Beginning afresh moves them to a folder beside, and only when asked to.
 * R2  While a recovery is open it holds the lock of the database's owner: nobody else opens the files.
 * R3  The database's file is moved first and its log last. If that is cut short, the log alone is refused as damage.
 */
import { unmarkDatabase } from "../connection/database-marker.js";
import { StorageUnavailableError } from "../protocol/errors.js";
import { checkIdentifier } from "../protocol/limits.js";
import { DATA_AT, POOL_FOLDER, poolDirectory, readPoolHeader, SQLITE_MAGIC } from "../protocol/pool-layout.js";
import { ownerLock } from "../protocol/wire.js";
import { openPages } from "./database-pages.js";
import { type RecoveredStore, readStoredRows } from "./stored-rows.js";

export interface RecoverStoresOptions {
  /** As given to `openStores`. */
  readonly name: string;
  /** A folder that `setAside` answered; omitted: the files that `openStores` opens. */
  readonly folder?: string;
}

/** One file as it is on the disk. */
export interface DamagedFile {
  readonly role: "database" | "log" | "other";
  /** All of its bytes, as a part of the browser's storage: reading it streams. SQLite's own begin at byte 4,096. */
  readonly file: File;
}

export interface Recovery {
  /** Every file that is not empty. */
  readonly files: readonly DamagedFile[];
  /** What is known to be wrong before any row was read. A file can be damaged although this is empty. */
  readonly damage: readonly string[];
  /** Every store of which a row could be found. Receipts, waiters and the change feed are not read. */
  stores(): AsyncGenerator<RecoveredStore>;
  /** The same as text: one JSON object in a line for each store, its state in it, or `null` if that is lost. */
  export(): ReadableStream<Uint8Array<ArrayBuffer>>;
  /**
   * Moves the files to a folder of their own, so that `openStores` begins with an empty database. Answers the folder,
   * which `recoverStores` can read again.
   */
  setAside(): Promise<string>;
  /** Gives the lock up. Idempotent. */
  close(): void;
}

/** Milliseconds to wait for an owner that is about to close. */
const PATIENCE = 4000;

/**
 * Opens the files of a database that `openStores` refuses with StorageDamagedError, or whose stores fail with it. Close
 * the stores in every tab before.
 *
 * @throws StorageUnavailableError `busy` when a tab has the database open, `failed` when there are no files
 *
 * @example
 * const recovery = await recoverStores({ name: "my-app" });
 * const rescued = await new Response(recovery.export()).blob();
 * await recovery.setAside();
 * recovery.close();
 */
export async function recoverStores({ name, folder = POOL_FOLDER }: RecoverStoresOptions): Promise<Recovery> {
  checkIdentifier("database name", name);
  const release = await holdOwnerLock(name);
  try {
    const home = await directoryAt(poolDirectory(name));
    const source = await home.getDirectoryHandle(folder);
    const handles = new Map<FileSystemFileHandle, DamagedFile>();
    for await (const handle of source.values()) {
      if (handle.kind !== "file") continue;
      const file = await handle.getFile();
      if (file.size > DATA_AT) handles.set(handle, { role: await roleOf(file), file });
    }
    const files = [...handles.values()];
    const contentOf = (role: DamagedFile["role"]): Blob | undefined =>
      files.find((file) => file.role === role)?.file.slice(DATA_AT);
    // A database whose header and name are both destroyed is the largest file that is left.
    const largest = files.filter(({ role }) => role === "other").sort((a, b) => b.file.size - a.file.size)[0];
    const database = contentOf("database") ?? largest?.file.slice(DATA_AT) ?? new Blob();
    const pages = await openPages(database, contentOf("log"));
    const stores = (): AsyncGenerator<RecoveredStore> => readStoredRows(pages);
    return {
      files,
      damage: pages.damage,
      stores,
      export: () => linesOf(stores()),
      setAside: async () => {
        const target = `set-aside-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
        const place = await home.getDirectoryHandle(target, { create: true });
        const ordered = [...handles].sort(([, a], [, b]) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role)); // R3
        for (const [handle] of ordered) await move(handle, place);
        unmarkDatabase(name);
        return target;
      },
      close: release,
    };
  } catch (error) {
    release();
    throw error instanceof Error && error.name === "NotFoundError"
      ? new StorageUnavailableError(`There are no files of "${name}" here.`, { reason: "failed" }, { cause: error })
      : error;
  }
}

const ORDER: readonly DamagedFile["role"][] = ["database", "other", "log"];

async function roleOf(file: File): Promise<DamagedFile["role"]> {
  const block = new Uint8Array(await file.slice(0, DATA_AT + SQLITE_MAGIC.length).arrayBuffer());
  const { path, valid } = readPoolHeader(block);
  const content = new DataView(block.buffer, DATA_AT);
  if (valid && path !== "") return path.endsWith("-wal") ? "log" : path === "/stores.db" ? "database" : "other";
  if (String.fromCharCode(...block.subarray(DATA_AT)) === SQLITE_MAGIC) return "database";
  return content.byteLength >= 4 && (content.getUint32(0) & ~1) === 0x377f0682 ? "log" : "other";
}

function linesOf(stores: AsyncGenerator<RecoveredStore>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await stores.next();
      if (done === true) return controller.close();
      const { state, ...rest } = value;
      // The state is JSON already, and stays letter by letter what it was.
      controller.enqueue(encoder.encode(`${JSON.stringify(rest).slice(0, -1)},"state":${state}}\n`));
    },
    cancel: async () => void (await stores.return(undefined)),
  });
}

async function move(handle: FileSystemFileHandle, place: FileSystemDirectoryHandle): Promise<void> {
  // Every engine with OPFS has it, and the library's types do not.
  const movable = handle as FileSystemFileHandle & {
    move?(to: FileSystemDirectoryHandle, name: string): Promise<void>;
  };
  if (movable.move === undefined) {
    throw new StorageUnavailableError("This browser cannot move files: update it. Nothing was changed.", {
      reason: "unsupported",
    });
  }
  await movable.move(place, handle.name);
}

async function directoryAt(path: string): Promise<FileSystemDirectoryHandle> {
  let directory = await navigator.storage.getDirectory();
  for (const segment of path.split("/")) directory = await directory.getDirectoryHandle(segment);
  return directory;
}

async function holdOwnerLock(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const bound = AbortSignal.timeout(PATIENCE);
    navigator.locks
      .request(ownerLock(name), { signal: bound }, () => new Promise<void>((release) => resolve(release)))
      .catch((cause: unknown) =>
        reject(
          new StorageUnavailableError(
            `A tab has "${name}" open: close its stores in every tab, and try again.`,
            { reason: "busy" },
            { cause },
          ),
        ),
      );
  });
}
