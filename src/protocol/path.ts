/**
 * Paths into a state: what a commit changed and what a selector read.
 *
 * A path reaches its whole subtree, so two paths intersect when either is a prefix of the other. For looking paths up by
 * index instead of comparing them one by one, a path has a key, and being a prefix is the same for keys as for paths.
 */

/** A key of an object or an index of an array. `0` and `"0"` are different segments. */
export type Segment = string | number;

/** From the root of a state to one place in it; the root itself is `[]`. */
export type StorePath = readonly Segment[];

/** More paths than this fold into their containers: a search over 5,000 items must not leave 5,000 paths behind. */
export const MAX_PATHS = 256;

/** Segments in one path at most: no state goes deeper, and one more than its levels names the length of an array there. */
export const MAX_PATH_LENGTH = 501;

/** Whether either path is a prefix of the other: whether a change at one can be seen by a reader of the other. */
export function pathsIntersect(a: StorePath, b: StorePath): boolean {
  const shared = Math.min(a.length, b.length);
  for (let depth = 0; depth < shared; depth++) {
    if (a[depth] !== b[depth]) return false;
  }
  return true;
}

/** Whether any path of `a` intersects any of `b`. */
export function anyPathsIntersect(a: readonly StorePath[], b: readonly StorePath[]): boolean {
  return a.some((left) => b.some((right) => pathsIntersect(left, right)));
}

/**
 * The text to index a path by. `a` is a prefix of `b` exactly when `pathKey(a)` is a prefix of `pathKey(b)`, since every
 * segment is written as JSON and closed by a comma, which no other segment can continue. JSON also escapes NUL, where
 * SQLite would end the text, and lone surrogates, which UTF-8 would merge. The root's key is empty.
 */
export function pathKey(path: StorePath): string {
  let key = "";
  for (const segment of path) key += `${JSON.stringify(segment)},`;
  return key;
}

/** The keys of `path` and of all its prefixes, the root's first. */
export function prefixKeys(path: StorePath): string[] {
  let key = "";
  return [key, ...path.map((segment) => (key += pathKey([segment])))];
}

/**
 * The least text that follows every key that starts with `key`, in the order of UTF-8 bytes, by which SQLite compares
 * text: `key <= k AND k < keyRangeEnd(key)` finds a path and all that lies below it.
 */
export function keyRangeEnd(key: string): string {
  // "-" follows ",", by which every key but the root's ends; ":" follows the digits, the last a key can begin with.
  return key === "" ? ":" : `${key.slice(0, -1)}-`;
}

/** Paths as canonical text: sorted, each once, and none that lies below another one. */
export function encodePaths(paths: readonly StorePath[]): string {
  const keys = topmostKeys(paths);
  return `[${keys.map((key) => `[${key.slice(0, -1)}]`).join(",")}]`;
}

/** Keys that start with another one stand right behind it once sorted. */
function topmostKeys(paths: readonly StorePath[]): string[] {
  const kept: string[] = [];
  for (const key of paths.map(pathKey).sort()) {
    const last = kept.at(-1);
    if (last === undefined || !key.startsWith(last)) kept.push(key);
  }
  return kept;
}

/** Reads what `encodePaths` wrote, and refuses everything that is no list of paths. */
export function decodePaths(
  text: string,
): { status: "decoded"; paths: StorePath[] } | { status: "invalid"; message: string } {
  let paths: unknown;
  try {
    paths = JSON.parse(text);
  } catch {
    return { status: "invalid", message: "The paths are not JSON." };
  }
  if (Array.isArray(paths) && paths.every(isPath)) return { status: "decoded", paths };
  return {
    status: "invalid",
    message: `The paths are not a list of lists of at most ${MAX_PATH_LENGTH} strings and array indices.`,
  };
}

function isPath(value: unknown): value is StorePath {
  return Array.isArray(value) && value.length <= MAX_PATH_LENGTH && value.every(isSegment);
}

function isSegment(value: unknown): value is Segment {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value) && value >= 0);
}

/** Paths as a tree: a branch without children (`null`, never an empty map) is a path that ends there. */
export interface PathTree {
  /** `null` as a child stands for a branch without children, and saves the object. */
  children: Map<Segment, PathTree | null> | null;
}

/**
 * At most `limit` paths that reach all that `paths` reach. The containers with the most entries give way first, each to
 * its own path, so that a search over a long list costs the precision of that list and of nothing else.
 */
export function foldPaths(paths: readonly StorePath[], limit: number = MAX_PATHS): StorePath[] {
  return paths.length === 0 ? [] : foldPathTree(plantPaths(paths), limit);
}

function plantPaths(paths: readonly StorePath[]): PathTree {
  const root: PathTree = { children: new Map() };
  for (const path of paths) {
    let branch = root;
    for (const segment of path) {
      if (branch.children === null) break;
      let next = branch.children.get(segment);
      if (!next) branch.children.set(segment, (next = { children: new Map() }));
      branch = next;
    }
    // The path ends here and reaches all below: what was planted there falls, what comes later stops here.
    branch.children = null;
  }
  return root;
}

/** The paths of `tree`, at most `limit` of them, as `foldPaths` folds them. Uses the tree up. */
export function foldPathTree(tree: PathTree, limit: number = MAX_PATHS): StorePath[] {
  const containers: PathTree[] = [];
  let count = countPaths(tree, containers);
  if (count > limit) {
    // The inner stand before the outer, and sorting is stable: of two equally wide, the inner one gives way first.
    containers.sort((a, b) => widthOf(b) - widthOf(a));
    for (const container of containers) {
      if (count <= limit) break;
      count -= fell(container) - 1;
    }
  }
  const paths: StorePath[] = [];
  collectPaths(tree, [], paths);
  return paths;
}

function widthOf(tree: PathTree): number {
  return tree.children?.size ?? 0;
}

function countPaths(tree: PathTree | null, containers: PathTree[]): number {
  if (!tree?.children) return 1;
  let count = 0;
  for (const child of tree.children.values()) count += countPaths(child, containers);
  containers.push(tree);
  return count;
}

/** Takes all below away, also from the containers inside, so that none of them is counted twice. Tells how many paths fell. */
function fell(tree: PathTree | null): number {
  if (!tree?.children) return 1;
  let count = 0;
  for (const child of tree.children.values()) count += fell(child);
  tree.children = null;
  return count;
}

function collectPaths(tree: PathTree | null, path: StorePath, paths: StorePath[]): void {
  if (!tree?.children) paths.push(path);
  else for (const [segment, child] of tree.children) collectPaths(child, [...path, segment], paths);
}
