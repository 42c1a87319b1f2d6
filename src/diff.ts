/** What differs between two states, as the paths that readers are woken by. */
import { isContainer } from "./protocol/durable-value.js";
import { foldPathTree, MAX_PATHS, type PathTree, type Segment, type StorePath } from "./protocol/path.js";

/**
 * The paths at which `next` differs from `base`, at most 256: past that, siblings fold into their container. Where both
 * hold the same object nothing differs, and nothing is compared.
 *
 * A key that came or went is reported with its own path, an array of another length also with `length`. Values are
 * compared as they would be stored, so `0` equals `-0`.
 */
export function diffPaths(base: unknown, next: unknown): StorePath[] {
  const difference = compare(base, next);
  return difference === undefined ? [] : foldPathTree(difference ?? { children: null });
}

/** `undefined` where nothing differs, `null` where all does, and otherwise what differs below. */
type Difference = PathTree | null | undefined;

function compare(base: unknown, next: unknown): Difference {
  if (base === next || Object.is(base, next)) return undefined;
  if (!isContainer(base) || !isContainer(next)) return null;
  if (Array.isArray(base)) return Array.isArray(next) ? compareArrays(base, next) : null;
  return Array.isArray(next) ? null : compareObjects(base, next);
}

function compareArrays(base: readonly unknown[], next: readonly unknown[]): Difference {
  const shared = Math.min(base.length, next.length);
  const longest = Math.max(base.length, next.length);
  // A length set by mistake must not cost a walk through its billions of holes.
  if (longest - shared > MAX_PATHS) return null;
  const branch = new Branch();
  for (let index = 0; index < shared && !branch.isFull; index++) branch.add(index, compare(base[index], next[index]));
  for (let index = shared; index < longest; index++) branch.add(index, null);
  if (shared !== longest) branch.add("length", null);
  return branch.difference();
}

function compareObjects(base: Readonly<Record<string, unknown>>, next: Readonly<Record<string, unknown>>): Difference {
  const branch = new Branch();
  for (const key of Object.keys(base)) {
    if (branch.isFull) return null;
    branch.add(key, Object.hasOwn(next, key) ? compare(base[key], next[key]) : null);
  }
  for (const key of Object.keys(next)) {
    if (!Object.hasOwn(base, key)) branch.add(key, null);
  }
  return branch.difference();
}

/** What differs inside one container. More than what a whole diff may report will fold, and need not be looked for. */
class Branch {
  #children: Map<Segment, PathTree | null> | undefined;

  get isFull(): boolean {
    return this.#children !== undefined && this.#children.size > MAX_PATHS;
  }

  add(segment: Segment, difference: Difference): void {
    if (difference !== undefined) (this.#children ??= new Map()).set(segment, difference);
  }

  difference(): Difference {
    if (this.isFull) return null;
    return this.#children && { children: this.#children };
  }
}
