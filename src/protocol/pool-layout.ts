/**
 * Where the files of a database are in OPFS, and what stands before their content: the layout of sqlite-wasm's pool VFS
 * (sqlite3-vfs-opfs-sahpool.c-pp.js), which keeps each file of SQLite in a file with a name of no meaning.
 *
 * A block of 4,096 bytes precedes the data, in it the path (512 bytes), the flags of SQLite's xOpen (4) and a digest of
 * both (8).
 */
const PATH_SIZE = 512;
const DIGEST_AT = 516;
const DIGEST_SIZE = 8;
/** Where SQLite's bytes begin. */
export const DATA_AT = 4096;
/** The folder, in that of the database, that holds the files. */
export const POOL_FOLDER = ".opaque";
/** Set in the flags of files whose digest was computed; the others have a digest of zeros. */
const HAS_DIGEST = 0x80;
export const SQLITE_MAGIC = "SQLite format 3\0";

/** The longest name of a directory; file systems end at 255 bytes. */
const SEGMENT = 120;

/** The directory of a database, as the pool wants it: segments below the origin's root, joined by slashes. */
export function poolDirectory(name: string): string {
  const escaped = escapeName(name);
  const segments: string[] = [];
  for (let start = 0; start < escaped.length; start += SEGMENT) segments.push(escaped.slice(start, start + SEGMENT));
  // Only the last segment ends in ".db": no database lies inside the directory of another.
  return `.wakeful/${segments.join("/")}.db`;
}

/** Letters, digits and hyphens stay; every other byte of UTF-8 becomes `_` and two digits. Capitals too: some file systems do not tell them apart. */
export function escapeName(name: string): string {
  return encodeURIComponent(name).replace(
    /%(..)|[^a-z0-9-]/g,
    (character, byte?: string) => `_${byte?.toLowerCase() ?? character.charCodeAt(0).toString(16)}`,
  );
}

/** What the block before a file's data says, and whether its digest fits. An empty path: the file is not in use. */
export function readPoolHeader(block: Uint8Array): { readonly path: string; readonly valid: boolean } {
  const view = new DataView(block.buffer, block.byteOffset);
  const flags = view.getUint32(PATH_SIZE);
  let first = 0;
  let second = 0;
  if ((flags & HAS_DIGEST) !== 0) {
    first = 0xdeadbeef;
    second = 0x41c6ce57;
    for (const byte of block.subarray(0, DIGEST_AT)) {
      first = Math.imul(first ^ byte, 2654435761);
      second = Math.imul(second ^ byte, 104729);
    }
  }
  // The pool writes the digest as it lies in memory, so in the byte order of the machine.
  const digest = new Uint32Array(block.slice(DIGEST_AT, DIGEST_AT + DIGEST_SIZE).buffer);
  const end = block.indexOf(0);
  const path = String.fromCharCode(...block.subarray(0, end === -1 || end > PATH_SIZE ? PATH_SIZE : end));
  return { path, valid: digest[0] === first >>> 0 && digest[1] === second >>> 0 };
}
