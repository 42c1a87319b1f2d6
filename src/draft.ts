/** Runs updaters and claims on drafts of states: what the next state is, and which paths of it changed. */
import { copyContainers } from "./copy-containers.js";
import { diffPaths } from "./diff.js";
import { DraftRun } from "./draft-run.js";
import type { DeepReadonly, Draft, Matched } from "./durable-type.js";
import { isObject } from "./protocol/durable-value.js";
import { DraftMisuseError } from "./protocol/errors.js";
import type { StorePath } from "./protocol/path.js";
import { refuseThenable } from "./refuse-thenable.js";
import { matches, observeSelector } from "./selection.js";

/** What an updater made of a state. `next` is plain, and shares with the state what did not change. */
export interface Revision {
  readonly next: unknown;
  readonly changedPaths: StorePath[];
}

/**
 * Runs `updater` on a draft of `base`.
 *
 * @throws DraftMisuseError when it returns a promise, changes the draft and returns a replacement too, or returns a
 * primitive or null in place of an object
 */
export function applyUpdater<State>(base: State, updater: (draft: Draft<State>) => unknown): Revision {
  return withRun((run) => {
    const draft = run.draftOf(base);
    const returned = updater(draft as Draft<State>); // A draft can be written to wherever the state can be read.
    refuseThenable(returned, "updater");
    const isReplaced = returned !== undefined && returned !== draft;
    if (isReplaced) checkReplacement(base, returned, run);
    return revise(base, run.settle(isReplaced ? returned : draft));
  });
}

/** What a take found and made of a state. `selected` is detached, as it is after the claim. */
export type Taking =
  | { readonly matched: false; readonly readPaths: StorePath[] }
  | ({ readonly matched: true; readonly selected: unknown; readonly readPaths: StorePath[] } & Revision);

/**
 * Runs `selector` on `base` and, if it matches, `claim` on a draft and on what was selected, where each part of the
 * state is a draft too, also inside arrays and plain objects that the selector made.
 *
 * @throws DraftMisuseError when either returns a promise, or the selector writes
 */
export function applyTake<State, Selected>(
  base: State,
  selector: (state: DeepReadonly<State>) => Selected,
  claim: (draft: Draft<State>, selected: Draft<Matched<Selected>>) => unknown,
): Taking {
  return withRun((run) => {
    const draft = run.draftOf(base);
    const { result, readPaths } = observeSelector(base, selector, (_part, path) => draftAt(draft, path));
    if (!matches(result)) return { matched: false, readPaths };
    // The casts: drafts can be written to, and what matches is none of the excluded.
    refuseThenable(claim(draft as Draft<State>, result as Draft<Matched<Selected>>), "claim");
    const selected = copyContainers(run.settle(result));
    return { matched: true, selected, readPaths, ...revise(base, run.settle(draft)) };
  });
}

function draftAt(draft: unknown, path: StorePath): object {
  // The casts: at this path the state that the draft stands for has a container, and all the way down to it.
  return path.reduce((part, segment) => (part as Record<string | number, object>)[segment] as object, draft as object);
}

/** The states of a transaction as its updater gets them: assigning to a key replaces that state. */
export type Drafts<States extends object> = { -readonly [Key in keyof States]: Draft<States[Key]> };

/**
 * Runs `updater` on drafts of several states at once.
 *
 * @throws DraftMisuseError when it returns anything, or adds or removes a state
 */
export function applyTransaction<States extends object>(
  bases: States,
  updater: (drafts: Drafts<States>) => unknown,
): { [Key in keyof States]: Revision } {
  return withRun((run) => {
    const drafts = run.draftOf({ ...bases });
    const returned = updater(drafts as Drafts<States>); // Can be written to, as any draft.
    refuseThenable(returned, "updater");
    if (returned !== undefined && returned !== drafts) {
      throw new DraftMisuseError(
        `The updater of a transaction returned ${describe(returned)}: change the drafts, or assign to them, and return nothing. ${BRACES}`,
      );
    }
    const next = run.settle(drafts) as Record<string, unknown>; // A draft of an object settles to an object.
    const stray = Object.keys({ ...bases, ...next }).find(
      (key) => !Object.hasOwn(bases, key) || !Object.hasOwn(next, key),
    );
    if (stray !== undefined) {
      throw new DraftMisuseError(
        `The updater of a transaction added or removed the store ${JSON.stringify(stray)}: it can only change the stores it was given.`,
      );
    }
    const revisions = Object.entries(bases).map(([key, base]) => [key, revise(base, next[key])]);
    return Object.fromEntries(revisions) as { [Key in keyof States]: Revision }; // One for each of the bases.
  });
}

function withRun<Outcome>(work: (run: DraftRun) => Outcome): Outcome {
  const run = new DraftRun();
  try {
    return work(run);
  } finally {
    run.isOpen = false;
  }
}

function revise(base: unknown, next: unknown): Revision {
  return { next, changedPaths: diffPaths(base, next) };
}

const BRACES =
  "An arrow without braces returns what its last call returns: write `(draft) => { draft.items.push(x); }`.";

function checkReplacement(base: unknown, returned: unknown, run: DraftRun): void {
  if (run.hasWritten) {
    throw new DraftMisuseError(
      `The updater changed the draft and also returned ${describe(returned)}: do one or the other. ${BRACES}`,
    );
  }
  if (isObject(base) && !isObject(returned)) {
    throw new DraftMisuseError(
      `The updater returned ${describe(returned)}, but the state is an object: change the draft, or return an object to replace the state. ${BRACES}`,
    );
  }
}

function describe(returned: unknown): string {
  if (isObject(returned)) return Array.isArray(returned) ? "an array" : "an object";
  return returned === null || typeof returned === "boolean" ? String(returned) : `a ${typeof returned}`;
}
