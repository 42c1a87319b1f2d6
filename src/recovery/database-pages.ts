/**
 * The pages of a database whose file may be damaged anywhere: the newest of file and log, read past SQLite.
 *
 * Nothing in the file is trusted. A page size that makes no sense is replaced by the one that this library writes.
 */
import { SQLITE_MAGIC } from "../protocol/pool-layout.js";
import { readLog } from "./write-ahead-log.js";

/** What worker/database.ts writes. */
const PAGE_SIZE = 8192;
/** Pages read at once. */
const BATCH = 64;

export interface DatabasePages {
  readonly pageSize: number;
  readonly count: number;
  /** What is known to be wrong, in words. */
  readonly damage: readonly string[];
  /** A page by its number, from 1; `undefined`: there is none. */
  read(page: number): Promise<Uint8Array | undefined>;
  /** Every page that is in use, as far as the list of those that are not can be read. */
  all(): AsyncGenerator<{ readonly page: number; readonly bytes: Uint8Array }>;
}

/** @param database the bytes of the file, without what the pool puts before them */
export async function openPages(database: Blob, log: Blob | undefined): Promise<DatabasePages> {
  const damage: string[] = [];
  const header = new Uint8Array(await database.slice(0, 100).arrayBuffer());
  if (String.fromCharCode(...header.subarray(0, 16)) !== SQLITE_MAGIC)
    damage.push("the header of the database is damaged");
  const written = header.length < 18 ? 0 : new DataView(header.buffer).getUint16(16);
  const pageSize = written >= 512 && (written & (written - 1)) === 0 ? written : PAGE_SIZE;
  if (pageSize !== PAGE_SIZE || database.size % pageSize !== 0) damage.push("the database does not end with a page");
  const { pages, damagedFrames } =
    log === undefined ? { pages: new Map<number, number>(), damagedFrames: 0 } : await readLog(log, pageSize);
  if (damagedFrames > 0) damage.push(`${damagedFrames} frames of its log are damaged`);
  const inFile = Math.ceil(database.size / pageSize);
  const count = Math.max(inFile, ...pages.keys());

  async function read(page: number): Promise<Uint8Array | undefined> {
    if (!Number.isInteger(page) || page < 1 || page > count) return undefined;
    const offset = pages.get(page);
    const at = (page - 1) * pageSize;
    const bytes =
      offset === undefined || log === undefined
        ? database.slice(at, at + pageSize)
        : log.slice(offset, offset + pageSize);
    return padded(new Uint8Array(await bytes.arrayBuffer()));
  }

  /** The last page of a file that was cut short. */
  function padded(bytes: Uint8Array): Uint8Array {
    if (bytes.length === pageSize) return bytes;
    const whole = new Uint8Array(pageSize);
    whole.set(bytes);
    return whole;
  }

  return {
    pageSize,
    count,
    damage,
    read,
    all: async function* () {
      const free = await freePages(read, count);
      for (let first = 1; first <= count; first += BATCH) {
        const at = (first - 1) * pageSize;
        const batch = new Uint8Array(await database.slice(at, at + BATCH * pageSize).arrayBuffer());
        for (let page = first; page < first + BATCH && page <= count; page++) {
          if (free.has(page)) continue;
          const begin = (page - first) * pageSize;
          const bytes = pages.has(page) ? await read(page) : padded(batch.subarray(begin, begin + pageSize));
          if (bytes !== undefined) yield { page, bytes };
        }
      }
    },
  };
}

/** Pages that hold nothing any more, such as what was deleted. Ends where the list of them makes no sense. */
async function freePages(read: DatabasePages["read"], count: number): Promise<ReadonlySet<number>> {
  const free = new Set<number>();
  const first = await read(1);
  let trunk = first === undefined ? 0 : new DataView(first.buffer, first.byteOffset).getUint32(32);
  while (trunk > 1 && trunk <= count && !free.has(trunk)) {
    const bytes = await read(trunk);
    if (bytes === undefined) break;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const leaves = view.getUint32(4);
    if (leaves > bytes.length / 4 - 2) break;
    free.add(trunk);
    for (let leaf = 0; leaf < leaves; leaf++) free.add(view.getUint32(8 + 4 * leaf));
    trunk = view.getUint32(0);
  }
  return free;
}
