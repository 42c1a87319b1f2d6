import type { Database } from "../../worker/database.js";

/** Every row of every table, so that two moments of a database can be compared. */
export function dump(database: Database): Record<string, unknown[]> {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      database
        .all<object>(`SELECT * FROM ${name}`)
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  );
}
