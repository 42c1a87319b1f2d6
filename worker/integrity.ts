/** SQLite's own check of a database, in parts: a table with its indexes at a time, so that calls go on in between. */
import type { IntegrityPart } from "../src/protocol/transfer.js";
import type { Database } from "./database.js";

export function checkIntegrity(database: Database, part: number): IntegrityPart {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  const table = tables[part];
  if (table === undefined) return { parts: tables.length, problems: [] };
  const found = database.all<{ found: string }>(
    "SELECT integrity_check AS found FROM pragma_integrity_check(?)",
    table.name,
  );
  return { parts: tables.length, problems: found.map((row) => row.found).filter((text) => text !== "ok") };
}
