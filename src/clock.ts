/** Time, injected so that tests can move it. */

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `task` once after `delay` milliseconds, at most MAX_DELAY; the function returned calls it off. */
  after(delay: number, task: () => void): () => void;
}

/** Timers overflow past 24.8 days and then fire at once; who waits longer waits in pieces. */
export const MAX_DELAY = 0x7fff_ffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delay, task) {
    const timer = setTimeout(task, delay);
    return () => clearTimeout(timer);
  },
};
