/**
 * The order of one client's calls on each store.
 *
 * Owns: who is next. Does not own: what a call does.
 *
 * Q1  Calls on one store run one after another, in the order in which they were made: a client never races itself.
 * Q2  A call on several stores takes its place in all their lines at once, so that two such calls never wait for each
 *     other.
 * Q3  A call that is given up before its turn never runs, and those behind it keep their order.
 */
import { abortable, throwIfAborted } from "./abort.js";

export class StoreQueue {
  /** The end of each store's line; never rejects. */
  readonly #tails = new Map<string, Promise<unknown>>();

  run<T>(keys: readonly string[], signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    let running = false;
    const before = keys.map((key) => this.#tails.get(key)).filter((tail) => tail !== undefined);
    const turn = async (): Promise<T> => {
      throwIfAborted(signal);
      running = true;
      return task();
    };
    const result = before.length === 0 ? turn() : Promise.all(before).then(turn);
    const tail: Promise<unknown> = result
      .catch(() => undefined)
      .then(() => {
        for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    for (const key of keys) this.#tails.set(key, tail);
    return abortable(result, signal, () => running);
  }

  /** Resolves when every call that was made is done. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
