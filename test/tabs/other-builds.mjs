/**
 * Builds of the test page that differ from this one as a later release would: a plugin for Vite changes the numbers that
 * a build says of itself, and adds the migration that they speak of.
 */

/** What each build says of itself, by the path under which it is served. */
export const otherBuilds = {
  /** Speaks another protocol. */
  "newer-protocol": { PROTOCOL_VERSION: 2 },
  /** Migrates the database to what this build must not touch. */
  "newer-schema": { SCHEMA_VERSION: 3, OLDEST_SCHEMA: 3 },
  /** Migrates the database to what this build can still use. */
  "compatible-schema": { SCHEMA_VERSION: 3 },
};

/** Fails the build when a number is not found: the test would otherwise run two equal builds. */
export function otherBuild(numbers) {
  return {
    name: "other-build",
    enforce: "pre",
    transform(code, id) {
      if (id.endsWith("/src/protocol/wire.ts")) {
        return Object.entries(numbers).reduce((text, [name, number]) => {
          const changed = text.replace(new RegExp(`(export const ${name} = )\\d+;`), `$1${number};`);
          if (changed === text) throw new Error(`${name} is not where this plugin looks for it`);
          return changed;
        }, code);
      }
      if (id.endsWith("/worker/migrations.ts") && numbers.SCHEMA_VERSION !== undefined) {
        const changed = code.replace(
          / {2}\],\n\];/,
          "  ],\n  [`CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT`],\n];",
        );
        if (changed === code) throw new Error("The list of migrations does not end where this plugin looks for it");
        return changed;
      }
      return null;
    },
  };
}
