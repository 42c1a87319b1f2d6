/** SQLite's own check of a database, in parts: a table with its indexes at a time, so that calls go on in between. */
import { StorageDamagedError } from "../src/protocol/errors.js";
import type { IntegrityPart } from "../src/protocol/transfer.js";
import type { Database } from "./database.js";

export function checkIntegrity(database: Database, part: number): IntegrityPart {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  const table = tables[part];
  return { parts: tables.length, problems: table === undefined ? [] : problemsOf(database, table.name) };
}

function problemsOf(database: Database, table: string): string[] {
  try {
    return database
      .all<{ found: string }>("SELECT integrity_check AS found FROM pragma_integrity_check(?)", table)
      .map(({ found }) => found)
      .filter((found) => found !== "ok");
  } catch (error) {
    // Damaged so badly that the check itself fails.
    if (error instanceof StorageDamagedError) return [`${table}: ${error.message}`];
    throw error;
  }
}
