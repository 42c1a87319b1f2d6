/** The client's clock in the hands of a test: time and timers move only when it says so. */
import type { Clock } from "../../src/clock.js";

export interface ManualScheduler extends Clock {
  /** Moves on by `milliseconds`, running what falls due on the way, in order. */
  advance(milliseconds: number): void;
  /** The delays asked for so far. */
  readonly delays: readonly number[];
  /** How many timers are waiting. */
  readonly pending: number;
}

export function manualScheduler(start: number = Date.UTC(2024, 0, 1)): ManualScheduler {
  let time = start;
  const delays: number[] = [];
  const timers = new Set<{ readonly due: number; readonly task: () => void }>();
  return {
    delays,
    now: () => time,
    after(delay, task) {
      delays.push(delay);
      const timer = { due: time + delay, task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get pending() {
      return timers.size;
    },
    advance(milliseconds) {
      const end = time + milliseconds;
      for (;;) {
        const next = [...timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
        if (next === undefined) break;
        timers.delete(next);
        time = Math.max(time, next.due);
        next.task();
      }
      time = end;
    },
  };
}
