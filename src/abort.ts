/** Giving up: signals and deadlines, turned into typed errors. */
import { type Clock, MAX_DELAY } from "./clock.js";
import { AbortedError, WakefulError } from "./protocol/errors.js";

/** What a signal's abort means: its reason if that is an error of ours, or AbortedError with the reason as its cause. */
export function abortError(signal: AbortSignal): WakefulError {
  return signal.reason instanceof WakefulError
    ? signal.reason
    : new AbortedError("The call was aborted before it was sent. Nothing was written.", {}, { cause: signal.reason });
}

/** @throws AbortedError if `signal` has aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** `promise`, given up when `signal` aborts. `isCommitted` tells that it is too late for that. */
export function abortable<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  isCommitted: () => boolean = () => false,
): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      if (!isCommitted()) reject(abortError(signal));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Calls `task` once `clock` shows `deadline` (epoch milliseconds), in pieces that timers can hold. */
export function atDeadline(clock: Clock, deadline: number, task: () => void): () => void {
  let stop: () => void = () => undefined;
  const wait = (): void => {
    const left = deadline - clock.now();
    if (left <= 0) task();
    else stop = clock.after(Math.min(left, MAX_DELAY), wait);
  };
  wait();
  return () => stop();
}
