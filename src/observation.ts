/**
 * Waiting for a store: `when`, `watch`, and what a waiting take does between two tries.
 *
 * Owns: one wait each, from its beginning to its end. Does not own: what is known of the store (store-view.ts).
 *
 * O1  A wait creates nothing: of a missing store it sees the initial state.
 * O2  A wait ends with its outcome, by its signal, at its deadline, or with the client; losing the owner does not end it:
 *     it looks again at the next one.
 * O3  What a watch hands out never goes back: a look as of an older sequence than the last one is dropped.
 */
import { abortable, abortError, atDeadline, throwIfAborted } from "./abort.js";
import { checkDeadline, checkFunction } from "./check-arguments.js";
import type { StoreDefinition } from "./define-store.js";
import type { Matched } from "./durable-type.js";
import type { StoreKey } from "./protocol/change.js";
import type { StoredSnapshot } from "./protocol/connector.js";
import { encodeDurable } from "./protocol/durable-value.js";
import { AbortedError, WakefulError } from "./protocol/errors.js";
import type { StorePath } from "./protocol/path.js";
import { matches, runSelector } from "./selection.js";
import { observedSnapshot } from "./snapshot.js";
import type { CacheEntry } from "./store-cache.js";
import type { ObservedSnapshot, Selector, WaitOptions, WatchOptions } from "./store-client.js";
import { isOwnerLoss, type StoreView, type Wait } from "./store-view.js";

/** What one wait needs of its surroundings. */
export interface Waiting {
  readonly entry: CacheEntry;
  /** Aborts for whichever reason the wait is to end. */
  readonly signal: AbortSignal;
  /** To be called before anything is waited for. A deadline that had passed from the start takes effect only here, so
   *  that each wait looks once. */
  readonly beforeWaiting: () => void;
}

const TIMED_OUT = new WakefulError("The deadline has passed.");

/** Runs one wait; answers "timed-out" at its deadline. */
export async function waitOn<T>(
  view: StoreView,
  key: StoreKey,
  { signal, deadline }: WaitOptions,
  run: (waiting: Waiting) => Promise<T>,
): Promise<T | "timed-out"> {
  checkDeadline(deadline);
  const limit = view.limit(signal);
  const expire = (): void => limit.abort(TIMED_OUT);
  const isLate = deadline !== undefined && deadline <= view.clock.now();
  const stopTimer = deadline === undefined || isLate ? undefined : atDeadline(view.clock, deadline, expire);
  const entry = view.cache.pin(key);
  const beforeWaiting = (): void => {
    if (isLate) expire();
    throwIfAborted(limit.signal);
  };
  try {
    return await run({ entry, signal: limit.signal, beforeWaiting });
  } catch (error) {
    view.events.isOutdated(error);
    // A connector wraps the reason; ours is the one that the caller is to see.
    const reason = error instanceof AbortedError && limit.signal.aborted ? abortError(limit.signal) : error;
    if (reason === TIMED_OUT) return "timed-out";
    throw reason;
  } finally {
    view.cache.unpin(entry);
    stopTimer?.();
    limit.end();
  }
}

/** Does `attempt`, again and again while it fails for want of an owner (O2). */
export async function despiteOwnerLoss<T>(
  view: StoreView,
  { signal, beforeWaiting }: Pick<Waiting, "signal" | "beforeWaiting">,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isOwnerLoss(error)) throw error;
      beforeWaiting();
      await abortable(view.follower.chance(), signal);
    }
  }
}

interface Look<State> {
  /** Private: not to be handed out. */
  readonly state: State;
  readonly sequence: number;
  readonly snapshot: StoredSnapshot | null;
}

/** The store as of `sequence` at least. */
async function lookAt<State>(
  view: StoreView,
  definition: StoreDefinition<State>,
  waiting: Waiting,
  bringUp: () => Promise<void>,
): Promise<Look<State>> {
  const { entry, signal } = waiting;
  for (;;) {
    await despiteOwnerLoss(view, waiting, () => abortable(bringUp(), signal));
    const { generation } = view.cache;
    const { sequence, snapshot } = entry;
    const state: State = await view.stateOf(definition, entry);
    // Of the database before, whose sequences have nothing to do with those of the present one.
    if (generation === view.cache.generation) return { state, sequence, snapshot };
  }
}

/** Resolves at a change, later than `snapshot`, that may concern `readPaths`; with its sequence. */
export async function nextChange(
  view: StoreView,
  { entry, signal, beforeWaiting }: Waiting,
  snapshot: StoredSnapshot | null,
  readPaths: readonly StorePath[],
): Promise<number> {
  beforeWaiting();
  const seen = entry.sequence;
  if (entry.snapshot !== snapshot || !view.cache.isCurrent(entry)) return Math.max(entry.heard, seen);
  let stop: (() => void) | undefined;
  const change = new Promise<number>((wake) => {
    stop = view.addWait(entry, { seen, readPaths, wake });
  });
  try {
    return await abortable(change, signal);
  } finally {
    stop?.();
  }
}

/** Waits until the selector matches. */
export function when<State, R>(
  view: StoreView,
  definition: StoreDefinition<State>,
  key: StoreKey,
  selector: Selector<State, R>,
  options: WaitOptions,
): Promise<{ readonly value: Matched<R> } | "timed-out"> {
  checkFunction("selector", selector);
  return waitOn(view, key, options, async (waiting) => {
    const { entry } = waiting;
    // Asked anew, not taken from the cache: what another tab has told this one about must be seen.
    let look = await lookAt(view, definition, waiting, () => view.readAnew(entry));
    for (;;) {
      const { result, readPaths } = runSelector(look.state, selector);
      if (matches(result)) return { value: result as Matched<R> }; // What `matches` says.
      const sequence = await nextChange(view, waiting, look.snapshot, readPaths);
      look = await lookAt(view, definition, waiting, () => view.bringUp(entry, sequence));
    }
  });
}

/** Calls back with the selected value now and whenever it has changed. */
export function watch<State, R>(
  view: StoreView,
  definition: StoreDefinition<State>,
  key: StoreKey,
  selector: Selector<State, R>,
  callback: (value: R, snapshot: ObservedSnapshot<State>) => void,
  { onError, signal }: WatchOptions,
): () => void {
  checkFunction("selector", selector);
  checkFunction("callback", callback);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  void waitOn(view, key, signal === undefined ? {} : { signal }, async (waiting) => {
    const { entry } = waiting;
    let last: string | undefined;
    let looking = false;
    let needed = -1;
    let wakes = 0;

    const fail = (error: unknown): void => {
      if (stopping.signal.aborted || waiting.signal.aborted) return;
      view.events.isOutdated(error);
      try {
        if (onError === undefined) view.events.fail(error);
        else onError(error);
      } catch (thrown) {
        view.events.fail(thrown);
      }
    };
    const show = ({ state, sequence, snapshot }: Look<State>): void => {
      if (sequence <= wait.seen || stopping.signal.aborted || waiting.signal.aborted) return; // O3
      wait.seen = sequence;
      // Until it is known what was read, any change counts: a selector that throws may not throw the next time.
      wait.readPaths = ROOT;
      try {
        const { result, readPaths } = runSelector(state, selector);
        wait.readPaths = readPaths;
        const text = textOf(result);
        if (text !== undefined && text === last) return;
        last = text;
        callback(result, observedSnapshot(state, snapshot));
      } catch (error) {
        fail(error);
      }
    };
    /** Shows at once what is at hand, so that a client's own commit is seen before its call resolves. */
    const showPresent = (): boolean => {
      if (entry.sequence < needed || entry.sequence < 0) return false;
      const { sequence, snapshot } = entry;
      const state = view.stateOf(definition, entry);
      if (state instanceof Promise) return false;
      show({ state, sequence, snapshot });
      return true;
    };
    const lookAgain = async (bringUp: () => Promise<void>): Promise<void> => {
      if (looking) return;
      looking = true;
      const heard = wakes;
      try {
        show(await lookAt(view, definition, waiting, bringUp));
      } catch (error) {
        wait.seen = Math.max(wait.seen, needed);
        fail(error);
      }
      looking = false;
      if (wakes !== heard && needed > wait.seen) void lookAgain(() => view.bringUp(entry, needed));
    };
    const wait: Wait = {
      seen: -1,
      readPaths: ROOT,
      wake(sequence) {
        wakes += 1;
        needed = wait.seen < 0 ? sequence : Math.max(needed, sequence);
        try {
          if (showPresent()) return;
        } catch {
          // Said below, by the look that fails in the same way.
        }
        void lookAgain(() => view.bringUp(entry, needed));
      },
    };
    const stopWaiting = view.addWait(entry, wait);
    void lookAgain(() => (view.cache.isCurrent(entry) ? Promise.resolve() : view.readAnew(entry)));
    try {
      await abortable(new Promise<never>(() => undefined), stopping.signal);
    } finally {
      stopWaiting();
    }
  }).catch(() => undefined); // Stopped, by whichever signal.
  return stop;
}

const ROOT: readonly StorePath[] = [[]];

/** By which two results are the same; undefined if the result has no canonical text and so is never the same. */
function textOf(result: unknown): string | undefined {
  if (result === undefined) return "undefined";
  const encoded = encodeDurable(result);
  return encoded.status === "encoded" ? encoded.canonical : undefined;
}
