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
  // They would fold anyway; and a length set by mistake must not cost a walk through its billions of holes.
  if (longest - shared > MAX_PATHS) return null;
  const children = new Map<Segment, PathTree | null>();
  for (let index = 0; index < shared; index++) note(children, index, compare(base[index], next[index]));
  for (let index = shared; index < longest; index++) children.set(index, null);
  if (shared !== longest) children.set("length", null);
  return treeOf(children);
}

function compareObjects(base: Readonly<Record<string, unknown>>, next: Readonly<Record<string, unknown>>): Difference {
  const children = new Map<Segment, PathTree | null>();
  for (const key of Object.keys(base)) {
    note(children, key, Object.hasOwn(next, key) ? compare(base[key], next[key]) : null);
  }
  for (const key of Object.keys(next)) {
    if (!Object.hasOwn(base, key)) children.set(key, null);
  }
  return treeOf(children);
}

function note(children: Map<Segment, PathTree | null>, segment: Segment, difference: Difference): void {
  if (difference !== undefined) children.set(segment, difference);
}

function treeOf(children: Map<Segment, PathTree | null>): Difference {
  return children.size === 0 ? undefined : { children };
}
