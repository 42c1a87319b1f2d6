/**
 * The worker's SQL side on real OPFS, driven by database.test.ts command by command. It holds the lock of the database's
 * name while it has it open, as the owner does.
 */
import type { CommitOutcome } from "../../src/protocol/connector.js";
import { toWire, type WireError } from "../../src/protocol/errors.js";
import type { Durability } from "../../src/protocol/events.js";
import { createStoreHost, type StoreHost } from "../../worker/connector.js";
import { type Database, loadSqlite, openOpfsDatabase } from "../../worker/database.js";

export type DatabaseCommand =
  /** Loads SQLite and opens nothing. */
  | { readonly type: "load"; readonly wasmUrl?: string }
  | { readonly type: "open"; readonly name: string; readonly durability?: Durability; readonly lock?: boolean }
  /** Commits to one store after another until it is stopped from outside, and says so after each. Busy: never yields. */
  | { readonly type: "commit-for-ever"; readonly stateBytes: number; readonly busy: boolean }
  /** Commits new stores until one commit fails; answers their ids and how it failed, after 1,000 without an error. */
  | { readonly type: "commit-until-failure"; readonly stateBytes: number }
  /** Commits `count` times to one store and answers how long that took. */
  | { readonly type: "measure"; readonly count: number; readonly stateBytes: number }
  /** The next `count` flushes of files fail, after what was written has gone to the file. */
  | { readonly type: "fail-flushes"; readonly count: number }
  /** Holds a file for a moment, again and again, until it is stopped from outside. */
  | { readonly type: "hold-for-moments"; readonly file: FileSystemFileHandle }
  | { readonly type: "script"; readonly sql: string }
  | { readonly type: "select"; readonly sql: string }
  | { readonly type: "durability"; readonly durability: Durability }
  | { readonly type: "close" };

export type DatabaseReply =
  | { readonly type: "done"; readonly value: unknown }
  | { readonly type: "failed"; readonly error: WireError }
  /** A commit was acknowledged. */
  | { readonly type: "acknowledged"; readonly storeId: string; readonly sequence: number };

let database: Database | undefined;
let host: StoreHost | undefined;

function post(reply: DatabaseReply): void {
  globalThis.postMessage(reply);
}

/** What the library's types for pages leave out: it exists in workers only. */
declare global {
  interface FileSystemFileHandle {
    createSyncAccessHandle(): Promise<{ close(): void }>;
  }
}

addEventListener("message", (event: MessageEvent<DatabaseCommand>) => {
  void run(event.data).then(
    (value) => post({ type: "done", value }),
    (error: unknown) => post({ type: "failed", error: toWire(error) }),
  );
});

async function run(command: DatabaseCommand): Promise<unknown> {
  switch (command.type) {
    case "load":
      await loadSqlite(command.wasmUrl === undefined ? {} : { wasmUrl: command.wasmUrl });
      return null;
    case "open":
      return open(command);
    case "commit-for-ever":
      for (let number = 1; ; number++) {
        const storeId = `store-${crypto.randomUUID()}`;
        const { sequence } = commit(storeId, number, command.stateBytes);
        post({ type: "acknowledged", storeId, sequence });
        if (!command.busy) await turn();
      }
    case "commit-until-failure":
      return commitUntilFailure(command.stateBytes);
    case "measure": {
      const started = performance.now();
      for (let number = 0; number < command.count; number++) replaceNext(number, command.stateBytes);
      return performance.now() - started;
    }
    case "fail-flushes":
      return failFlushes(command.count);
    case "hold-for-moments":
      for (;;) {
        // Refused while the pool that is to be disturbed has it.
        const held = await command.file.createSyncAccessHandle().catch(() => null);
        await pause();
        held?.close();
        await pause();
      }
    case "script":
      database?.script(command.sql);
      return null;
    case "select":
      return database?.all(command.sql);
    case "durability":
      database?.setDurability(command.durability);
      return database?.durability;
    case "close":
      host?.close();
      database?.close();
      return null;
  }
}

/** Between SQLite and the pool: the file itself stays as it is and works. */
async function failFlushes(count: number): Promise<null> {
  const { capi, oo1, wasm } = (await loadSqlite()).module;
  const vfs = capi.sqlite3_js_vfs_list().find((name) => name.startsWith("wakeful-"));
  if (vfs === undefined) throw new Error("No database is open.");
  // All files of all pools share one table of methods; a file of this worker's own leads to it.
  const probe = new oo1.DB({ filename: "/probe.db", flags: "c", vfs });
  const stack = wasm.pstack.pointer;
  const pointer = wasm.pstack.allocPtr();
  capi.sqlite3_file_control(probe, "main", capi.SQLITE_FCNTL_FILE_POINTER, pointer);
  const methods = new capi.sqlite3_io_methods(new capi.sqlite3_file(wasm.peekPtr(pointer)).$pMethods);
  wasm.pstack.restore(stack);
  probe.close();
  let left = count;
  // Called as SQLite calls it, with a file and flags.
  const flush = wasm.functionEntry(Reflect.get(methods, "$xSync") as number) as (file: number, flags: number) => number;
  methods.installMethod("xSync", (file: number, flags: number) => {
    left -= 1;
    return left >= 0 ? capi.SQLITE_IOERR : flush(file, flags);
  });
  return null;
}

function commitUntilFailure(stateBytes: number): { readonly storeIds: string[]; readonly error: WireError | null } {
  const storeIds: string[] = [];
  while (storeIds.length < 1000) {
    const storeId = `store-${crypto.randomUUID()}`;
    try {
      commit(storeId, storeIds.length, stateBytes);
      storeIds.push(storeId);
    } catch (error) {
      return { storeIds, error: toWire(error) };
    }
  }
  return { storeIds, error: null };
}

async function open(command: Extract<DatabaseCommand, { type: "open" }>): Promise<unknown> {
  const { name, durability = "strict", lock = true } = command;
  const sqlite = await loadSqlite();
  if (lock) await holdLock(`test:${name}`);
  const started = performance.now();
  const opened = await openOpfsDatabase(sqlite, { name, durability });
  database = opened;
  host = createStoreHost(database, { clock: Date.now, publish: () => {} });
  return {
    openedIn: performance.now() - started,
    journalMode: database.journalMode,
    durability: database.durability,
    epoch: host.epoch,
    databaseId: host.databaseId,
    head: host.head(),
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 4));
}

/** Lets the worker's event loop take a turn. */
function turn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}

/** Resolves once the lock is held; it stays so until this worker is gone. */
function holdLock(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, () => {
        resolve();
        return new Promise(() => {});
      })
      .catch(reject);
  });
}

function commit(storeId: string, number: number, stateBytes: number): Extract<CommitOutcome, { status: "committed" }> {
  const created = {
    type: "create",
    storeName: "test",
    storeId,
    definitionVersion: 1,
    instanceId: instanceId(),
    version: 0,
    state: JSON.stringify({ number, filler: "x".repeat(stateBytes) }),
    changedPaths: "[[]]",
  };
  return committed(host?.call("test", "commit", { operations: [created] }));
}

const measured = { instanceId: "", version: 0 };

function replaceNext(number: number, stateBytes: number): void {
  const key = { storeName: "test", storeId: "measured", definitionVersion: 1, changedPaths: '[["number"]]' };
  const state = JSON.stringify({ number, filler: "x".repeat(stateBytes) });
  if (measured.instanceId === "") {
    measured.instanceId = instanceId();
    const operation = { ...key, type: "create", instanceId: measured.instanceId, version: 0, state };
    committed(host?.call("test", "commit", { operations: [operation] }));
  } else {
    const operation = { ...key, type: "replace", expected: { ...measured }, state };
    committed(host?.call("test", "commit", { operations: [operation] }));
    measured.version += 1;
  }
}

/** Of version 7 in its form; unique is all that counts here. */
function instanceId(): string {
  const random = crypto.randomUUID();
  return `${random.slice(0, 14)}7${random.slice(15)}`;
}

function committed(outcome: unknown): Extract<CommitOutcome, { status: "committed" }> {
  const { status } = outcome as CommitOutcome; // What the host answers to "commit".
  if (status !== "committed") throw new Error(`A commit that nothing stands against was refused: ${status}`);
  return outcome as Extract<CommitOutcome, { status: "committed" }>; // The status was just checked.
}
