/** What is written down outside of the browser: every call before it is made, and its outcome once its tab has it. */

export type Operation =
  | { readonly kind: "increment"; readonly store: string }
  | { readonly kind: "read"; readonly store: string }
  | { readonly kind: "put"; readonly store: string; readonly item: string }
  /** Waits for an item. */
  | { readonly kind: "take"; readonly store: string }
  /** From one account to the other, in one commit. */
  | { readonly kind: "transfer"; readonly store: string; readonly to: string; readonly amount: number }
  | { readonly kind: "delete"; readonly store: string }
  /** Waits until the counter has come so far. */
  | { readonly kind: "wait"; readonly store: string; readonly count: number }
  /** Leaves a durable note to be woken by the next change of the counter. Its execution is named by its unit. */
  | { readonly kind: "sleep"; readonly store: string };

export interface Begin {
  readonly type: "begin";
  /** One load of one page. */
  readonly tab: string;
  readonly call: number;
  /** The client that makes the call: the origin of its changes. */
  readonly session: string;
  /** Calls with one step are one: they are repeated until one is acknowledged. */
  readonly step: string | null;
  readonly operation: Operation;
  /** Epoch milliseconds, by the clock of the machine that all tabs share. */
  readonly at: number;
}

export type Outcome =
  | { readonly kind: "written"; readonly version: number; readonly count: number }
  | {
      readonly kind: "read";
      readonly instanceId: string;
      readonly version: number;
      readonly count: number;
      readonly last: string;
    }
  | { readonly kind: "taken"; readonly item: string }
  /** `sum`: of both balances, as the updater found them. */
  | { readonly kind: "transferred"; readonly version: number; readonly toVersion: number; readonly sum: number }
  | { readonly kind: "deleted" }
  | { readonly kind: "timed-out" }
  | { readonly kind: "matched"; readonly count: number }
  /** `since`: the version that it has seen. */
  | { readonly kind: "asleep"; readonly instanceId: string; readonly since: number }
  /** Was put to sleep, woken and forgotten before its own tab heard of the first, from an owner that was lost. */
  | { readonly kind: "awake" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

export interface End {
  readonly type: "end";
  readonly tab: string;
  readonly call: number;
  /** Of the owner that the tab knew last. */
  readonly epoch: number;
  readonly outcome: Outcome;
  readonly at: number;
}

/** A tab has met an owner. */
export interface OwnerMet {
  readonly type: "owner";
  readonly tab: string;
  readonly epoch: number;
  readonly databaseId: string;
}

/** A wake was delivered. */
export interface Woken {
  readonly type: "woken";
  readonly executionId: string;
}

export type Entry = Begin | End | OwnerMet | Woken;

/** A counter or an account. `last`: the unit that wrote this version (`unitOf`). */
export interface CountState {
  readonly count: number;
  readonly last: string;
}

export interface QueueState {
  readonly waiting: readonly string[];
  readonly taken: readonly { readonly item: string; readonly by: string }[];
}

/** What counts as one: all calls of a step, or the one call that has none. */
export function unitOf({ step, tab, call }: Pick<Begin, "step" | "tab" | "call">): string {
  return step ?? `${tab}/${call}`;
}
