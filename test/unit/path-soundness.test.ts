import * as fc from "fast-check";
import { expect, test } from "vitest";
import { diffPaths } from "../../src/diff.js";
import { applyUpdater } from "../../src/draft.js";
import {
  cloneDurable,
  type DurableValue,
  durableEquals,
  encodeDurable,
  isContainer,
} from "../../src/protocol/durable-value.js";
import { anyPathsIntersect, type StorePath } from "../../src/protocol/path.js";
import { runSelector } from "../../src/selection.js";
import { type Look, looksArbitrary, runLooks } from "./random-selectors.js";
import { runSteps, type Step, stepsArbitrary } from "./random-updaters.js";
import { durableArbitrary, stateArbitrary } from "./state-arbitraries.js";

const effort = process.env["WAKEFUL_LONG"] ? 20 : 1;
const timeout = 60_000 * effort;

/** Nothing may ever write to a state, or to what a callback assigns. */
function frozen<Value>(value: Value): Value {
  if (isContainer(value)) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

/** What the steps make of plain data. */
function modelOf(base: DurableValue, steps: readonly Step[]): DurableValue {
  const value = cloneDurable(base);
  runSteps(steps, value, true);
  return value;
}

/** The text of an outcome, or where it is not durable, or that there is none. */
function textOf(outcome: () => unknown): unknown {
  try {
    return encodeDurable(outcome());
  } catch (error) {
    return (error as Error).name;
  }
}

/** The outcome of steps that lead to a durable one. */
function durableModelOf(base: DurableValue, steps: readonly Step[]): { value: DurableValue } | undefined {
  try {
    const value = modelOf(base, steps);
    return encodeDurable(value).status === "encoded" ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** Every place of both states at which they differ by themselves: in kind, value or length, or by being there at all. */
function differences(a: unknown, b: unknown, path: StorePath = []): StorePath[] {
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
    return durableEquals(a, b) ? [] : [path];
  }
  const found: StorePath[] = Array.isArray(a) && a.length !== b["length"] ? [[...path, "length"]] : [];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const below = [...path, Array.isArray(a) ? Number(key) : key];
    if (Object.hasOwn(a, key) && Object.hasOwn(b, key)) found.push(...differences(a[key], b[key], below));
    else found.push(below);
  }
  return found;
}

function isPrefix(a: StorePath, b: StorePath): boolean {
  return a.length <= b.length && a.every((segment, depth) => segment === b[depth]);
}

test(
  "stores 25: a draft comes to what the same steps make of plain data, durable or not, and leaves the state alone",
  () => {
    fc.assert(
      fc.property(stateArbitrary, stepsArbitrary, (state, steps) => {
        const base = frozen(cloneDurable(state));
        const run = (): unknown => applyUpdater<unknown>(base, (draft) => runSteps(steps, draft, false)).next;
        expect(textOf(run)).toEqual(textOf(() => modelOf(state, steps)));
      }),
      { numRuns: 3000 * effort },
    );
  },
  timeout,
);

test(
  "stores 25: the changed paths are those of a full comparison, none less, whatever is moved, aliased or replaced",
  () => {
    fc.assert(
      fc.property(stateArbitrary, stepsArbitrary, (state, steps) => {
        const model = durableModelOf(state, steps);
        if (!model) return;
        const { changedPaths } = applyUpdater<unknown>(state, (draft) => runSteps(steps, draft, false));
        const different = differences(state, model.value);
        for (const path of different) expect(changedPaths.some((changed) => isPrefix(changed, path))).toBe(true);
        for (const path of changedPaths) expect(different.some((place) => isPrefix(path, place))).toBe(true);
      }),
      { numRuns: 3000 * effort },
    );
  },
  timeout,
);

test(
  "stores 25: two states have changed paths between them exactly if they differ",
  () => {
    fc.assert(
      fc.property(durableArbitrary, durableArbitrary, (a, b) => {
        expect(diffPaths(a, b).length === 0).toBe(durableEquals(a, b));
        expect(diffPaths(a, cloneDurable(a))).toEqual([]);
      }),
      { numRuns: 2000 * effort },
    );
  },
  timeout,
);

test(
  "stores 26: a selector finds in a state what it finds in plain data, and leaves the state alone",
  () => {
    fc.assert(
      fc.property(stateArbitrary, looksArbitrary, (state, looks) => {
        const expected = runLooks(looks, cloneDurable(state));
        const { result } = runSelector<unknown, unknown>(frozen(cloneDurable(state)), (view) => runLooks(looks, view));
        expect(result).toEqual(expected);
      }),
      { numRuns: 3000 * effort },
    );
  },
  timeout,
);

test(
  "stores 29: if a selector's result differs after an updater, its read paths intersect the changed paths",
  () => {
    fc.assert(
      fc.property(stateArbitrary, stepsArbitrary, looksArbitrary, (state, steps, looks) => {
        fc.pre(durableModelOf(state, steps) !== undefined);
        const { next, changedPaths } = applyUpdater<unknown>(state, (draft) => runSteps(steps, draft, false));
        expect(missedWake(state, next, changedPaths, looks)).toBeUndefined();
      }),
      { numRuns: 6000 * effort },
    );
  },
  timeout,
);

test(
  "stores 29: if a selector's result differs in a replacement, its read paths intersect the changed paths",
  () => {
    fc.assert(
      fc.property(stateArbitrary, stateArbitrary, looksArbitrary, (state, replacement, looks) => {
        const { next, changedPaths } = applyUpdater<unknown>(state, () => replacement);
        expect(missedWake(state, next, changedPaths, looks)).toBeUndefined();
      }),
      { numRuns: 4000 * effort },
    );
  },
  timeout,
);

test(
  "stores 29: folding loses no change: among 400 entries, what was read and changed is told",
  () => {
    const indices = fc.uniqueArray(fc.nat({ max: 399 }), { maxLength: 400, size: "max" });
    const base = { list: Array.from({ length: 400 }, (_, id) => ({ id, seen: 0 })), other: { seen: 0 } };
    fc.assert(
      fc.property(indices, indices, fc.boolean(), (read, changed, isOtherChanged) => {
        const { changedPaths } = applyUpdater(base, (draft) => {
          for (const index of changed) draft.list[index]!.seen = 1;
          if (isOtherChanged) draft.other.seen = 1;
        });
        const { readPaths } = runSelector(base, ({ list, other }) => [
          other.seen,
          ...read.map((index) => list[index]?.seen),
        ]);
        const isTouched = isOtherChanged || read.some((index) => changed.includes(index));
        expect(changedPaths.length).toBeLessThanOrEqual(256);
        expect(readPaths.length).toBeLessThanOrEqual(256);
        expect(anyPathsIntersect(readPaths, changedPaths) || !isTouched).toBe(true);
        // Whoever reads elsewhere is never woken by the list, however much of it folds.
        expect(anyPathsIntersect([["other"]], changedPaths)).toBe(isOtherChanged);
      }),
      { numRuns: 100 * effort },
    );
  },
  timeout,
);

/** What went wrong, if the results differ and the paths do not tell. */
function missedWake(base: unknown, next: unknown, changedPaths: StorePath[], looks: readonly Look[]): unknown {
  const before = runSelector(base, (state) => runLooks(looks, state));
  const after = runSelector(next, (state) => runLooks(looks, state));
  const isTold = anyPathsIntersect(before.readPaths, changedPaths);
  return isTold || durableEquals(before.result, after.result) ? undefined : { before, after, changedPaths };
}
