/**
 * The change feed as an app iterates over it: what is kept, then what comes.
 *
 * Owns: one reader's position. Does not own: the client's own position (change-follower.ts), which is ahead of a reader
 * that lags behind.
 *
 * T1  A reader gets every change after its position once, in order; or ChangesTrimmedError when some are gone.
 * T2  Changes that come while the reader is up to date are taken from the events; nothing is read for them.
 */
import { abortable } from "./abort.js";
import type { ChangeFollower, ChangeListener } from "./change-follower.js";
import { despiteOwnerLoss } from "./observation.js";
import type { Change } from "./protocol/change.js";
import { ChangesTrimmedError, InvalidArgumentError } from "./protocol/errors.js";
import { type StoreChange, toStoreChange } from "./store-change.js";
import type { StoreView } from "./store-view.js";

export interface ChangesOptions {
  /** A sequence: changes after it are read, those of later commits as they come. Omitted: from now on. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

const PAGE = 1000;
/** How many changes may wait for a slow reader; past that it reads them from the database. */
const MAX_BUFFERED = 10_000;

export function readChangeFeed(view: StoreView, { after, signal }: ChangesOptions): AsyncIterableIterator<StoreChange> {
  if (after !== undefined && (!Number.isSafeInteger(after) || after < 0)) {
    throw new InvalidArgumentError(`\`after\` is a sequence, an integer from 0, but it is ${String(after)}.`);
  }
  // Asked for at once: "from now on" is when this is called, not when the first change is asked for.
  const start = after === undefined ? presentSequence(view) : Promise.resolve(after);
  start.catch(() => undefined); // Awaited by whoever iterates.
  return iterate(view, start, signal);
}

async function presentSequence(view: StoreView): Promise<number> {
  const { head } = await view.connector.readChanges({ after: Number.MAX_SAFE_INTEGER, limit: 1 });
  return head;
}

async function* iterate(
  view: StoreView,
  start: Promise<number>,
  source: AbortSignal | undefined,
): AsyncGenerator<StoreChange, undefined, undefined> {
  const limit = view.limit(source);
  const tap = new ChangeTap(view.follower);
  const { signal } = limit;
  try {
    let position = await abortable(start, signal);
    for (let isFirst = true; ; isFirst = false) {
      let changes: readonly Change[] | undefined = isFirst ? undefined : tap.after(position);
      if (changes === undefined) {
        // Opened before the reading: what comes meanwhile is in the one, in the other, or in both.
        tap.open();
        changes = await readPage(view, position, signal);
      }
      for (const change of changes) yield toStoreChange(change);
      position = changes.at(-1)?.sequence ?? position;
      if (changes.length === 0) await abortable(tap.more(position), signal);
    }
  } finally {
    limit.end();
    tap.close();
  }
}

async function readPage(view: StoreView, after: number, signal: AbortSignal): Promise<readonly Change[]> {
  const waiting = { signal, beforeWaiting: () => undefined };
  const reading = await despiteOwnerLoss(view, waiting, () =>
    abortable(view.connector.readChanges({ after, limit: PAGE }), signal),
  );
  if (reading.status === "trimmed") throw trimmed(`Changes after ${after} are no longer kept`, reading.oldest);
  if (after > reading.head) throw trimmed(`This database has no sequence ${after} yet`, reading.head + 1);
  view.follower.begin(reading.head);
  return reading.changes;
}

/** Collects what the follower tells, from a known position on. */
class ChangeTap implements ChangeListener {
  readonly #follower: ChangeFollower;
  readonly close: () => void;
  #buffer: Change[] = [];
  /** Every change after it is in the buffer; undefined: some are not. */
  #start: number | undefined;
  #isReplaced = false;
  #wake: () => void = () => undefined;

  constructor(follower: ChangeFollower) {
    this.#follower = follower;
    this.close = follower.listen(this);
  }

  open(): void {
    if (this.#start !== undefined) return;
    this.#buffer = [];
    if (this.#follower.position >= 0) this.#start = this.#follower.position;
  }

  /** The changes after `position`, if all of them are here. */
  after(position: number): readonly Change[] | undefined {
    if (this.#isReplaced) throw trimmed("The database was replaced by another one", 1);
    if (this.#start === undefined || position < this.#start) return undefined;
    const changes = this.#buffer.filter(({ sequence }) => sequence > position);
    this.#buffer = [];
    return changes;
  }

  /** Resolves when there may be something after `position`. */
  async more(position: number): Promise<void> {
    const isPending = this.#isReplaced || this.#start === undefined || position < this.#start;
    if (isPending || this.#buffer.some(({ sequence }) => sequence > position)) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  changes(changes: readonly Change[]): void {
    if (this.#start === undefined) return;
    this.#buffer.push(...changes);
    if (this.#buffer.length > MAX_BUFFERED) this.skipped();
    this.#wake();
  }

  skipped(): void {
    this.#start = undefined;
    this.#buffer = [];
    this.#wake();
  }

  replaced(): void {
    this.#isReplaced = true;
    this.#wake();
  }
}

function trimmed(what: string, oldest: number): ChangesTrimmedError {
  return new ChangesTrimmedError(`${what}: read the stores anew, and go on with \`after: ${oldest - 1}\`.`, { oldest });
}
