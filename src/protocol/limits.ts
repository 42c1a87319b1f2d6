/** The limits of the contract, and the one check of names and ids that page and worker share. */
import { InvalidArgumentError } from "./errors.js";

/** Bytes of UTF-8 in one canonical state. */
export const MAX_STATE_BYTES: number = 16 * 1024 * 1024;
/** Past this many bytes of state a `slow` event is raised, since each commit rewrites the document. */
export const LARGE_STATE_BYTES: number = 1024 * 1024;
/** Bytes of UTF-8 in a definition name, store id, execution id or step key. */
export const MAX_IDENTIFIER_BYTES = 1024;
/** Operations in one commit. */
export const MAX_OPERATIONS = 1000;
/** Lost races in a row after which a call gives up. */
export const MAX_LOST_RACES = 100;
/** Changes or ids in one page of a reading. */
export const MAX_PAGE = 10_000;

/** Bytes of `text` as UTF-8, without encoding it. A lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 2;
      index += 1;
    } else bytes += 2;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function hasLoneSurrogate(text: string): boolean {
  return /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

/**
 * Throws unless `value` can be a name, id or step key.
 *
 * @param what the argument as its caller knows it, such as "store id"
 * @throws InvalidArgumentError when it is no string, is empty, over 1,024 bytes, holds NUL (SQLite ends text there)
 * or a lone surrogate, or begins with a byte order mark (UTF-8 and its decoders would merge two different ids)
 */
export function checkIdentifier(what: string, value: unknown): asserts value is string {
  if (typeof value !== "string") {
    throw new InvalidArgumentError(
      `The ${what} must be a string, but it is ${value === null ? "null" : typeof value}.`,
    );
  }
  if (value === "") throw new InvalidArgumentError(`The ${what} is empty: give it at least one character.`);
  const bytes = utf8Length(value);
  if (bytes > MAX_IDENTIFIER_BYTES) {
    throw new InvalidArgumentError(
      `The ${what} has ${bytes} bytes, and at most ${MAX_IDENTIFIER_BYTES} are allowed: use a hash of it, or put it into the state.`,
      { bytes, limit: MAX_IDENTIFIER_BYTES },
    );
  }
  if (value.includes("\0")) throw new InvalidArgumentError(`The ${what} contains a NUL character: remove it.`);
  if (value.startsWith("\ufeff")) {
    throw new InvalidArgumentError(
      `The ${what} begins with a byte order mark (U+FEFF), which decoders drop: two different ids would become one.`,
    );
  }
  if (hasLoneSurrogate(value)) {
    throw new InvalidArgumentError(
      `The ${what} contains half of a surrogate pair: two different ids would become one.`,
    );
  }
}
