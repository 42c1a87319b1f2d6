/**
 * A worker that opens SQLite the way tabs.md line 2 says and answers what came of it. It stands on the platform alone,
 * nothing of wakeful in between: when opfs.test.ts fails, the browser or sqlite-wasm changed, not the library.
 */
import sqlite3InitModule from "@sqlite.org/sqlite-wasm";

/** What the page asks: where the pool lives, and the text to add to its table. */
export interface OpfsProbeRequest {
  readonly directory: string;
  readonly add: string;
}

/** What came back: the modes in force and every row, the new one last. */
export interface OpfsProbeReply {
  readonly lockingMode: unknown;
  readonly journalMode: unknown;
  readonly synchronous: unknown;
  readonly rows: readonly unknown[];
}

addEventListener("message", (event: MessageEvent<OpfsProbeRequest>) => {
  // The lock is held until this worker is gone, so that the next one opens the pool only after that.
  void navigator.locks.request(event.data.directory, async () => {
    globalThis.postMessage(await addRow(event.data));
    return new Promise(() => {});
  });
});

async function addRow({ directory, add }: OpfsProbeRequest): Promise<OpfsProbeReply> {
  const sqlite3 = await sqlite3InitModule();
  const pool = await sqlite3.installOpfsSAHPoolVfs({
    name: directory,
    directory,
    preserveOnInitFailure: true,
  });
  const database = new pool.OpfsSAHPoolDb("/probe.db");
  const lockingMode = database.selectValue("PRAGMA locking_mode = EXCLUSIVE");
  const journalMode = database.selectValue("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY, word TEXT NOT NULL)");
  database.exec({ sql: "INSERT INTO probe (word) VALUES (?)", bind: [add] });
  return {
    lockingMode,
    journalMode,
    synchronous: database.selectValue("PRAGMA synchronous"),
    rows: database.selectValues("SELECT word FROM probe ORDER BY id"),
  };
}
