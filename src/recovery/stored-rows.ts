/**
 * The rows of the table `stores`, found page by page without the trees that lead to them, and without the schema: a row
 * is told by its six columns, of which the first is an instance id (sqlite.org/fileformat2.html, "B-tree Pages").
 *
 * Of several rows of one store the newest instance counts, and of that its newest version.
 */
import type { DatabasePages } from "./database-pages.js";

/** A store as far as it could be read. */
export interface RecoveredStore {
  readonly storeName: string;
  readonly storeId: string;
  readonly instanceId: string;
  readonly version: number;
  readonly definitionVersion: number;
  /** JSON text; `null`: it cannot be read. */
  readonly state: string | null;
}

interface Place {
  readonly instanceId: string;
  readonly version: number;
  readonly page: number;
  /** Where its cell begins in that page. */
  readonly at: number;
}

const TABLE_LEAF = 0x0d;
const INSTANCE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Reads the whole file twice: to find the newest row of each store, and to read those. */
export async function* readStoredRows(pages: DatabasePages): AsyncGenerator<RecoveredStore> {
  const places = new Map<string, Place>();
  for await (const { page, bytes } of pages.all()) {
    for (const at of cellsOf(page, bytes)) {
      const row = await readRow(pages, bytes, at);
      if (row === undefined) continue;
      const { instanceId, version } = row;
      const key = `${row.storeName}\0${row.storeId}`;
      const known = places.get(key);
      const isNewer =
        known === undefined ||
        instanceId > known.instanceId ||
        (instanceId === known.instanceId && version >= known.version);
      if (isNewer) places.set(key, { instanceId, version, page, at });
    }
  }
  for (const { page, at } of places.values()) {
    const bytes = await pages.read(page);
    const row = bytes === undefined ? undefined : await readRow(pages, bytes, at);
    if (row !== undefined) yield row;
  }
}

function cellsOf(page: number, bytes: Uint8Array): number[] {
  // The first page begins with the header of the database.
  const start = page === 1 ? 100 : 0;
  if (bytes[start] !== TABLE_LEAF) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = Math.min(view.getUint16(start + 3), (bytes.length - start - 8) >> 1);
  const cells = Array.from({ length: count }, (_, cell) => view.getUint16(start + 8 + 2 * cell));
  return cells.filter((at) => at >= start + 8 + 2 * count && at < bytes.length - 4);
}

/** `undefined`: what is there is no row of `stores`. */
async function readRow(pages: DatabasePages, bytes: Uint8Array, at: number): Promise<RecoveredStore | undefined> {
  const reader = new ByteReader(bytes, at);
  const length = reader.varint();
  reader.varint(); // The row's number.
  const { local, whole } = await payload(pages, bytes, reader.at, length);
  const columns = columnsOf(whole ?? local);
  if (columns === undefined) return undefined;
  const [instanceId, storeName, storeId, version, definitionVersion, state] = columns;
  const isRow =
    typeof instanceId === "string" &&
    INSTANCE_ID.test(instanceId) &&
    typeof storeName === "string" &&
    storeName !== "" &&
    typeof storeId === "string" &&
    storeId !== "" &&
    typeof version === "number" &&
    typeof definitionVersion === "number";
  if (!isRow) return undefined;
  const isReadable = whole !== undefined && typeof state === "string" && isJson(state);
  return { storeName, storeId, instanceId, version, definitionVersion, state: isReadable ? state : null };
}

/** What a cell holds: in its page, and in a chain of others where it is long. */
async function payload(
  pages: DatabasePages,
  bytes: Uint8Array,
  at: number,
  length: number,
): Promise<{ readonly local: Uint8Array; readonly whole: Uint8Array | undefined }> {
  const usable = pages.pageSize;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const surplus = least + ((length - least) % (usable - 4));
  const inPage = length <= usable - 35 ? length : surplus <= usable - 35 ? surplus : least;
  const local = bytes.subarray(at, at + inPage);
  if (inPage === length) return { local, whole: local.length === length ? local : undefined };
  // A length that the file has no room for is damage, and would take up as much memory.
  if (length > pages.count * usable) return { local, whole: undefined };
  const parts = [local];
  let next = at + inPage + 4 <= bytes.length ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + inPage) : 0;
  for (let left = length - inPage; left > 0; left -= usable - 4) {
    const page = await pages.read(next);
    if (page === undefined) return { local, whole: undefined };
    parts.push(page.subarray(4, 4 + Math.min(left, usable - 4)));
    next = new DataView(page.buffer, page.byteOffset).getUint32(0);
  }
  const whole = new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer()); // None is shared.
  return { local, whole: whole.length === length && next === 0 ? whole : undefined };
}

/** The columns of a record of six; what lies past the end of `record` is undefined. */
function columnsOf(record: Uint8Array): (string | number | undefined)[] | undefined {
  const header = new ByteReader(record, 0);
  const end = header.varint();
  if (end > 60 || end > record.length) return undefined;
  const types: number[] = [];
  while (header.at < end) types.push(header.varint());
  if (types.length !== 6) return undefined;
  let at = end;
  return types.map((type) => {
    const size = type >= 12 ? (type - 12) >> 1 : (INTEGER_SIZES[type] ?? 0);
    const value = at + size > record.length ? undefined : columnOf(type, record.subarray(at, at + size));
    at += size;
    return value;
  });
}

const INTEGER_SIZES: readonly number[] = [0, 1, 2, 3, 4, 6, 8, 8];

function columnOf(type: number, bytes: Uint8Array): string | number | undefined {
  if (type === 8 || type === 9) return type - 8;
  if (type >= 1 && type <= 6) return bytes.reduce((number, byte) => number * 256 + byte, 0);
  if (type < 13 || type % 2 === 0) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // Damaged text.
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

class ByteReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  varint(): number {
    let value = 0;
    for (let count = 0; count < 9; count++) {
      const byte = this.#bytes[this.at++] ?? 0;
      if (count === 8) return value * 256 + byte;
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) break;
    }
    return value;
  }
}
