/**
 * Whether the order that a database gave to the calls on one store is one that real time allows. With the order known,
 * this is all that is left of linearizability: a call that had ended before another one began stands before it.
 */

export interface Timed {
  readonly name: string;
  readonly writes: boolean;
  /** Of a write: where it stands. Of a read: where that stands which it saw. Ascending with the order of commits. */
  readonly position: number;
  /** Milliseconds. */
  readonly begin: number;
  readonly end: number;
}

/** @param tolerance milliseconds that the clocks may be off by. @returns what is out of order, in words */
export function checkOrder(calls: readonly Timed[], tolerance: number): string[] {
  const found: string[] = [];
  const byEnd = [...calls].sort((a, b) => a.end - b.end);
  let ended = 0;
  /** Of those that had ended, the one that stands last. */
  let last: Timed | undefined;
  for (const call of [...calls].sort((a, b) => a.begin - b.begin)) {
    for (let next = byEnd[ended]; next !== undefined && next.end + tolerance < call.begin; next = byEnd[++ended]) {
      if (last === undefined || next.position > last.position) last = next;
    }
    if (last === undefined) continue;
    // Two reads may see the same version, and a read that of a write; a write stands behind all that was there.
    const isLater = call.writes ? call.position > last.position : call.position >= last.position;
    if (!isLater) found.push(`${call.name} began after ${last.name} had ended, and stands before it`);
  }
  return [...found, ...readAheadOf(calls, tolerance)];
}

/** Reads that saw what had not begun when they ended. */
function readAheadOf(calls: readonly Timed[], tolerance: number): string[] {
  const writes = new Map(calls.filter(({ writes: does }) => does).map((call) => [call.position, call]));
  return calls.flatMap((call) => {
    const write = call.writes ? undefined : writes.get(call.position);
    return write !== undefined && write.begin > call.end + tolerance
      ? [`${call.name} saw the work of ${write.name}, which had not begun`]
      : [];
  });
}
