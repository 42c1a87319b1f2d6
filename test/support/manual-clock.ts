/** Time that moves only when a test says so. It can be set back, as a wall clock can. */
export interface ManualClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Moves on by `milliseconds`; negative: back. */
  advance(milliseconds: number): void;
  set(epochMilliseconds: number): void;
}

/** A clock that stands at `start` until it is moved. */
export function manualClock(start: number = Date.UTC(2024, 0, 1)): ManualClock {
  let time = start;
  return {
    now: () => time,
    advance: (milliseconds) => {
      time += milliseconds;
    },
    set: (epochMilliseconds) => {
      time = epochMilliseconds;
    },
  };
}
