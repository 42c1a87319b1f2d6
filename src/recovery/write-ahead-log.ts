/**
 * The newest version of each page that a write-ahead log holds (sqlite.org/fileformat2.html, "The Write-Ahead Log").
 *
 * SQLite stops reading a log at its first frame that is wrong. Here such a frame is left out alone: each is checked by
 * the checksum that the one before it carries.
 */
const HEADER = 32;
const FRAME_HEADER = 24;

export interface LogPages {
  /** Where the newest committed content of a page begins in the log. */
  readonly pages: ReadonlyMap<number, number>;
  /** Frames whose checksum did not fit. */
  readonly damagedFrames: number;
}

export async function readLog(log: Blob, pageSize: number): Promise<LogPages> {
  const header = new DataView(await log.slice(0, HEADER).arrayBuffer());
  const pages = new Map<number, number>();
  if (header.byteLength < HEADER) return { pages, damagedFrames: 0 };
  const littleEndian = (header.getUint32(0) & 1) === 0;
  let expected: [number, number] = [header.getUint32(24), header.getUint32(28)];
  let salts = `${header.getUint32(16)} ${header.getUint32(20)}`;
  let damagedFrames = 0;
  let uncommitted = new Map<number, number>();
  const size = FRAME_HEADER + pageSize;
  for (let at = HEADER; at + size <= log.size; at += size) {
    const frame = new DataView(await log.slice(at, at + size).arrayBuffer());
    const frameSalts = `${frame.getUint32(8)} ${frame.getUint32(12)}`;
    // Of a header that is damaged the first frame still knows the salts.
    if (at === HEADER && (header.getUint32(0) & ~1) !== 0x377f0682) salts = frameSalts;
    // What the log was used for before it was begun anew.
    if (frameSalts !== salts) break;
    const found: [number, number] = [frame.getUint32(16), frame.getUint32(20)];
    const sum = checksum(frame, FRAME_HEADER, checksum(frame, 0, expected, littleEndian, 8), littleEndian);
    expected = found;
    if (sum[0] !== found[0] || sum[1] !== found[1]) {
      damagedFrames += 1;
      continue;
    }
    uncommitted.set(frame.getUint32(0), at + FRAME_HEADER);
    if (frame.getUint32(4) === 0) continue;
    for (const [page, offset] of uncommitted) pages.set(page, offset);
    uncommitted = new Map();
  }
  return { pages, damagedFrames };
}

function checksum(
  view: DataView,
  from: number,
  [first, second]: readonly [number, number],
  littleEndian: boolean,
  length: number = view.byteLength - from,
): [number, number] {
  let s0 = first;
  let s1 = second;
  for (let at = from; at < from + length; at += 8) {
    s0 = (s0 + view.getUint32(at, littleEndian) + s1) >>> 0;
    s1 = (s1 + view.getUint32(at + 4, littleEndian) + s0) >>> 0;
  }
  return [s0, s1];
}
