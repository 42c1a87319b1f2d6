/**
 * SQLite alone, in the worker: the same file system, journal and flush as the library's, and of its work only reading
 * a row, parsing, changing and writing it. No message to a page, no schema, no feed, no session: what is left of the
 * ceiling is the library's price.
 */
import { type Database, loadSqlite, openOpfsDatabase } from "../../worker/database.js";
import type { Measurement, Workload } from "./contender.js";
import type { BenchDocument } from "./document.js";

export type SqliteCommand =
  | { readonly type: "open"; readonly name: string; readonly documents: readonly BenchDocument[] }
  | { readonly type: "measure"; readonly workload: Workload; readonly milliseconds: number }
  | { readonly type: "revisions" };

export type SqliteReply = { readonly value: unknown } | { readonly error: string };

let database: Database | undefined;

addEventListener("message", ({ data }: MessageEvent<SqliteCommand>) => {
  answer(data).then(
    (value) => reply({ value }),
    (error: unknown) => reply({ error: String(error) }),
  );
});

function reply(message: SqliteReply): void {
  globalThis.postMessage(message);
}

async function answer(command: SqliteCommand): Promise<unknown> {
  if (command.type === "open") return open(command.name, command.documents);
  if (database === undefined) throw new Error("The database was not opened");
  if (command.type === "measure") return measure(database, command.workload, command.milliseconds);
  const rows = database.all<{ state: string }>("SELECT state FROM documents");
  return rows.reduce((sum, { state }) => sum + parse(state).review.revision, 0);
}

async function open(name: string, documents: readonly BenchDocument[]): Promise<void> {
  const opened = await openOpfsDatabase(await loadSqlite(), { name, durability: "strict" });
  opened.script("CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY, state TEXT NOT NULL) STRICT");
  opened.transaction(() => {
    for (const [id, document] of documents.entries())
      opened.run("INSERT INTO documents (id, state) VALUES (?, ?)", id, JSON.stringify(document));
  });
  database = opened;
}

// Calls that are in flight at once share a transaction, as the library's do.
function measure(opened: Database, { inFlight, documents }: Workload, milliseconds: number): Measurement {
  const started = performance.now();
  let commits = 0;
  while (performance.now() - started < milliseconds) {
    opened.transaction(() => {
      for (let caller = 0; caller < inFlight; caller++) update(opened, commits++ % documents);
    });
  }
  return { commits, milliseconds: performance.now() - started };
}

function update(opened: Database, id: number): void {
  const row = opened.get<{ state: string }>("SELECT state FROM documents WHERE id = ?", id);
  if (row === undefined) throw new Error(`There is no document ${id}`);
  const document = parse(row.state);
  document.review.revision += 1;
  opened.run("UPDATE documents SET state = ? WHERE id = ?", JSON.stringify(document), id);
}

function parse(state: string): BenchDocument {
  return JSON.parse(state) as BenchDocument;
}
