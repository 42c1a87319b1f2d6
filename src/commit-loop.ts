/**
 * Read, compute, compare-and-swap: how every write of a client runs.
 *
 * Owns: the order of this client's calls, receipts before callbacks, and running again after a lost race.
 * Does not own: what a call computes (cas-store-client.ts and others), what is known of the stores (store-view.ts).
 *
 * L1  Nothing is sent before all callbacks have run and what they made is valid, durable and within the limits.
 * L2  With a step id the receipt is asked for first: a repeat runs no callback.
 * L3  A commit that lost a race runs again on the snapshot that the refusal brought; 100 lost in a row end the call.
 * L4  `signal` ends a call until its commit is sent; from then on the call has its real outcome.
 */
import { abortable, throwIfAborted } from "./abort.js";
import type { StoreKey } from "./protocol/change.js";
import type {
  AppliedStep,
  CommitOutcome,
  OperationVerdict,
  StepId,
  StepOperation,
  StoredSnapshot,
} from "./protocol/connector.js";
import { OutcomeUnknownError, StoreChangedTooOftenError } from "./protocol/errors.js";
import { MAX_LOST_RACES } from "./protocol/limits.js";
import { forgotten, mismatch, recordedResult } from "./receipts.js";
import { type CacheEntry, keyText } from "./store-cache.js";
import { StoreQueue } from "./store-queue.js";
import { outdated } from "./stored-state.js";
import type { StoreView, Write } from "./store-view.js";

/** What is known of a store when callbacks run on it. */
export interface Base {
  readonly entry: CacheEntry;
  /** `null`: missing. */
  readonly snapshot: StoredSnapshot | null;
  readonly sequence: number;
}

/** What callbacks made of the stores: something to commit, or an answer without one. */
export type Attempt<Result> =
  | { readonly writes: readonly Write[]; readonly result: Result }
  /** A creation, after which the call looks once more. */
  | { readonly writes: readonly Write[]; readonly again: true }
  /** `ifFresh`: counts only if the store was read during this call, since what is cached may be behind. */
  | { readonly answer: Result; readonly ifFresh?: true };

export interface Call<Result> {
  readonly stores: readonly (StoreKey & { readonly definitionVersion: number })[];
  /** The first attempt runs on what is cached if that is current, on a reading of its own, or on nothing at all. */
  readonly reading: "cached" | "fresh" | "none";
  readonly signal?: AbortSignal | undefined;
  /** The step, what its receipt must be of, and the result of a repeat, of what the stores' receipts recorded. */
  readonly step?: StepId | undefined;
  readonly operation?: StepOperation;
  readonly repeat?: (recorded: readonly unknown[], step: StepId) => Result;
  /** False when an earlier run of the same call has asked for the receipts. */
  readonly asksReceipts?: boolean;
  /** Default 100. */
  readonly maxLostRaces?: number;
  readonly attempt: (bases: readonly Base[]) => Attempt<Result> | Promise<Attempt<Result>>;
}

export class CommitLoop {
  readonly view: StoreView;
  readonly #queue: StoreQueue = new StoreQueue();

  constructor(view: StoreView) {
    this.view = view;
  }

  /** Resolves when every call that was made is done. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  async run<Result>(call: Call<Result>): Promise<Result> {
    const { closed, cache, events } = this.view;
    throwIfAborted(closed);
    try {
      return await this.#queue.run(call.stores.map(keyText), call.signal, async () => {
        const entries = call.stores.map((store) => cache.pin(store));
        try {
          const repeated = call.asksReceipts === false ? undefined : await this.#askReceipts(call);
          return repeated === undefined ? await this.#tryAll(call, entries) : repeated.result;
        } finally {
          for (const entry of entries) cache.unpin(entry);
        }
      });
    } catch (error) {
      events.isOutdated(error);
      throw error;
    }
  }

  async #tryAll<Result>(call: Call<Result>, entries: readonly CacheEntry[]): Promise<Result> {
    const { signal, maxLostRaces = MAX_LOST_RACES } = call;
    const readAll = (): Promise<unknown> =>
      abortable(Promise.all(entries.map((entry) => this.view.readAnew(entry))), signal);
    let isFresh = call.reading === "fresh";
    if (isFresh) await readAll();
    let isFirst = true;
    for (let lostRaces = 0; ; isFirst = false) {
      if (!isFirst || call.reading !== "none") isFresh = (await this.#bringUp(entries, signal)) || isFresh;
      const attempt = await call.attempt(
        entries.map((entry) => ({ entry, snapshot: entry.snapshot, sequence: entry.sequence })),
      );
      if ("answer" in attempt) {
        if (isFresh || attempt.ifFresh === undefined) return attempt.answer;
        await readAll();
        isFresh = true;
        continue;
      }
      const settled = await this.#commit(attempt, call);
      if (settled.status === "done") return settled.result;
      isFresh = true;
      if (settled.status === "again") continue;
      lostRaces += 1;
      this.#sayConflict(call, lostRaces);
      if (lostRaces >= maxLostRaces) throw tooOften(call, lostRaces);
    }
  }

  /** Reads what is not current. Answers whether everything was read, by readings that began after this call. */
  async #bringUp(entries: readonly CacheEntry[], signal: AbortSignal | undefined): Promise<boolean> {
    const stale = entries.filter((entry) => !this.view.cache.isCurrent(entry));
    const isFresh = stale.length === entries.length && stale.every((entry) => entry.reading === undefined);
    await abortable(Promise.all(stale.map((entry) => this.view.bringUp(entry, entry.heard))), signal);
    return isFresh;
  }

  async #commit<Result>(attempt: Writing<Result>, call: Call<Result>): Promise<Settled<Result>> {
    let outcome: CommitOutcome;
    try {
      outcome = await this.view.commit(attempt.writes, call.signal);
    } catch (error) {
      // With a step id the receipts tell whether it was applied; without one, nobody can.
      if (!(error instanceof OutcomeUnknownError) || call.step === undefined) throw error;
      const repeated = await this.#askReceipts(call);
      if (repeated === undefined) return { status: "lost" };
      // With the reply was lost what this client would know by now of its own commit; without it the result stands.
      await Promise.all(attempt.writes.map(({ entry }) => this.view.readAnew(entry))).catch(() => undefined);
      return repeated;
    }
    if (outcome.status === "rejected") return this.#refused(call, outcome.verdicts) ?? { status: "lost" };
    this.#warnOfSize(attempt.writes);
    return "again" in attempt ? { status: "again" } : { status: "done", result: attempt.result };
  }

  /** The result of a repeat, if receipts say that this call is one (L2). */
  async #askReceipts<Result>(call: Call<Result>): Promise<Done<Result> | undefined> {
    const { stores, step, signal } = call;
    if (step === undefined) return undefined;
    const ask = ({ storeName, storeId }: StoreKey): Promise<AppliedStep> => {
      const { executionId, stepKey } = step;
      const request = { storeName, storeId, executionId, stepKey };
      return abortable(
        this.view.connector.getAppliedStoreStep(request, signal === undefined ? {} : { signal }),
        signal,
      );
    };
    // If one store has no receipt, none has; should another one have, the commit will find it.
    const [first, ...others] = stores;
    const found = first === undefined ? [] : [await ask(first)];
    if (found[0]?.status === "already-applied") found.push(...(await Promise.all(others.map(ask))));
    return this.#resultOf(call, found);
  }

  /** What a refusal means: the result of a repeat, an error, or `undefined` for a lost race. */
  #refused<Result>(call: Call<Result>, verdicts: readonly OperationVerdict[]): Done<Result> | undefined {
    for (const [index, verdict] of verdicts.entries()) {
      const store = call.stores[index];
      if (verdict.status !== "definition-outdated" || store === undefined) continue;
      throw outdated(store.storeName, verdict.storedVersion, store.definitionVersion);
    }
    return this.#resultOf(call, verdicts);
  }

  /** The result of a repeat, if each store has a receipt; `undefined` if none has. */
  #resultOf<Result>(
    { stores, step, operation, repeat }: Call<Result>,
    found: readonly (AppliedStep | OperationVerdict)[],
  ): Done<Result> | undefined {
    if (step === undefined || operation === undefined || repeat === undefined) return undefined;
    if (found.some(({ status }) => status === "execution-forgotten")) throw forgotten(step);
    const receipts = found.filter((each) => each.status === "already-applied");
    if (receipts.length === 0) return undefined;
    const recorded = receipts.map((receipt) => recordedResult(receipt, operation, step));
    if (recorded.length !== stores.length) throw mismatch(step, "it was used for other stores");
    return { status: "done", result: repeat(recorded, step) };
  }

  #sayConflict({ stores }: Call<unknown>, lostRaces: number): void {
    for (const { storeName, storeId } of stores) {
      this.view.events.emit("conflict", () => ({ storeName, storeId, lostRaces }));
    }
  }

  #warnOfSize(writes: readonly Write[]): void {
    for (const { entry, largeBytes } of writes) {
      if (largeBytes !== undefined) this.view.events.emit("slow", () => ({ ...entry.key, bytes: largeBytes }));
    }
  }
}

type Done<Result> = { readonly status: "done"; readonly result: Result };
type Settled<Result> = Done<Result> | { readonly status: "again" | "lost" };
type Writing<Result> = Exclude<Attempt<Result>, { readonly answer: Result }>;

function tooOften({ stores }: Call<unknown>, lostRaces: number): StoreChangedTooOftenError {
  const names = stores.map(({ storeName, storeId }) => `"${storeName}/${storeId}"`).join(", ");
  return new StoreChangedTooOftenError(
    `Other commits to ${names} came first ${lostRaces} times in a row, and nothing was written: repeat the call, or split the store.`,
    { lostRaces },
  );
}
