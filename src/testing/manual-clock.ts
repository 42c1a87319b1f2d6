/** Time in the hands of a test: it moves, and timers fall due, only when the test says so. */
import type { Clock } from "../clock.js";

export interface ManualClock extends Clock {
  /** Moves on by `milliseconds`, running what falls due on the way, in order. */
  advance(milliseconds: number): void;
  /** Sets the wall clock on or (negative) back by `milliseconds`, as a user or a time server does. No timer falls due. */
  jump(milliseconds: number): void;
  /** The delays asked for so far, in milliseconds. */
  readonly delays: readonly number[];
  /** How many timers are waiting. */
  readonly pending: number;
}

/**
 * A clock that stands at `start` (epoch milliseconds) until it is moved.
 *
 * @example
 * const clock = manualClock();
 * const { stores } = openTestStores({ clock });
 * const wait = stores.store(Inbox, "alice").when((state) => state.done, { deadline: clock.now() + 1000 });
 * clock.advance(1000);
 * console.log((await wait).status); // "timed-out"
 */
export function manualClock(start: number = Date.UTC(2024, 0, 1)): ManualClock {
  let elapsed = 0;
  let wall = start;
  const delays: number[] = [];
  const timers = new Set<{ readonly due: number; readonly task: () => void }>();
  return {
    delays,
    now: () => wall + elapsed,
    after(delay, task) {
      delays.push(delay);
      const timer = { due: elapsed + delay, task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get pending() {
      return timers.size;
    },
    advance(milliseconds) {
      const end = elapsed + milliseconds;
      for (;;) {
        const next = [...timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
        if (next === undefined) break;
        timers.delete(next);
        elapsed = Math.max(elapsed, next.due);
        next.task();
      }
      elapsed = end;
    },
    jump(milliseconds) {
      wall += milliseconds;
    },
  };
}
