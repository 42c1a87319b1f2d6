/**
 * Builds that differ. What this file reads of a message is the one part of the protocol that never changes: a hello and
 * an owner's message hold `type` and `versions`, whatever else a later protocol puts beside them.
 *
 * Two builds live together if they speak the same protocol and the newer one's database can still be read and written by
 * the older one. Otherwise the newer one wins: the owner of the older build finishes, closes, and gives the lock up, and
 * its clients are told to reload.
 */
import { ClientOutdatedError } from "./errors.js";
import { type Versions, VERSIONS } from "./wire.js";

export interface ForeignMessage {
  readonly type: "hello" | "owner";
  /** That build, compared with this one. */
  readonly build: "newer" | "older";
}

function read(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function compare(theirs: Pick<Versions, "protocol" | "schema" | "oldestSchema">): "same" | "newer" | "older" {
  if (theirs.protocol !== VERSIONS.protocol) return theirs.protocol > VERSIONS.protocol ? "newer" : "older";
  if (theirs.oldestSchema > VERSIONS.schema) return "newer";
  if (VERSIONS.oldestSchema > theirs.schema) return "older";
  return "same";
}

/** What a message of another build says, if this one cannot live beside it; otherwise `null`. */
export function foreignMessage(value: unknown): ForeignMessage | null {
  const type = read(value, "type");
  if (type !== "hello" && type !== "owner") return null;
  const versions = read(value, "versions");
  const [protocol, schema, oldestSchema] = [
    read(versions, "protocol"),
    read(versions, "schema"),
    read(versions, "oldestSchema"),
  ];
  if (typeof protocol !== "number" || typeof schema !== "number" || typeof oldestSchema !== "number") return null;
  const build = compare({ protocol, schema, oldestSchema });
  return build === "same" ? null : { type, build };
}

/** What clients of the older build are told. */
export function outdatedBuild(): ClientOutdatedError {
  return new ClientOutdatedError(
    "Another tab runs a newer build of this app, which has taken the database over: reload the page.",
  );
}
