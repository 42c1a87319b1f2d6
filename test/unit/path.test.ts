import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  anyPathsIntersect,
  decodePaths,
  MAX_PATH_LENGTH,
  encodePaths,
  foldPaths,
  keyRangeEnd,
  pathKey,
  pathsIntersect,
  prefixKeys,
  type StorePath,
} from "../../src/protocol/path.js";
import { KEYS, keyArbitrary } from "./state-arbitraries.js";

const pathArbitrary: fc.Arbitrary<StorePath> = fc.array(fc.oneof(keyArbitrary, fc.nat({ max: 12 })), { maxLength: 4 });
const pathsArbitrary = fc.array(pathArbitrary, { maxLength: 12 });

function isPrefix(a: StorePath, b: StorePath): boolean {
  return a.length <= b.length && a.every((segment, depth) => segment === b[depth]);
}

function bytes(text: string): Buffer {
  return Buffer.from(text, "utf8");
}

test("stores 24: two paths intersect when either is a prefix of the other", () => {
  expect(pathsIntersect([], ["a", 0])).toBe(true);
  expect(pathsIntersect(["a", 0], ["a"])).toBe(true);
  expect(pathsIntersect(["a", 0], ["a", 0])).toBe(true);
  expect(pathsIntersect(["a", 0], ["a", 1])).toBe(false);
  expect(pathsIntersect(["a", "b"], ["a", "c", "b"])).toBe(false);
  fc.assert(
    fc.property(pathArbitrary, pathArbitrary, (a, b) => {
      expect(pathsIntersect(a, b)).toBe(isPrefix(a, b) || isPrefix(b, a));
    }),
  );
});

test("stores 24: of two lists of paths one intersection is enough", () => {
  expect(anyPathsIntersect([["a"], ["b", 1]], [["c"], ["b"]])).toBe(true);
  expect(anyPathsIntersect([["a"], ["b", 1]], [["c"], ["b", 2]])).toBe(false);
  expect(anyPathsIntersect([], [[]])).toBe(false);
});

test('stores 24: the index 0 and the key "0" are different segments', () => {
  expect(pathsIntersect(["a", 0], ["a", "0"])).toBe(false);
  expect(pathKey([0])).not.toBe(pathKey(["0"]));
});

test("stores 27: keys of paths are prefixes of each other exactly when the paths are, whatever their segments hold", () => {
  fc.assert(
    fc.property(pathArbitrary, pathArbitrary, (a, b) => {
      expect(pathKey(b).startsWith(pathKey(a))).toBe(isPrefix(a, b));
    }),
    { numRuns: 2000 },
  );
  const keys = KEYS.map((key) => pathKey([key]));
  for (const key of keys) expect(keys.filter((other) => other.startsWith(key))).toEqual([key]);
});

test("stores 27: a path's key holds neither NUL nor half a surrogate pair, so that SQLite and UTF-8 keep it whole", () => {
  fc.assert(
    fc.property(pathArbitrary, (path) => {
      const key = pathKey(path);
      expect(key).not.toContain("\0");
      expect(bytes(key).toString("utf8")).toBe(key);
    }),
  );
});

test("stores 28: the prefixes of a path are looked up by key, from the root to the path itself", () => {
  expect(prefixKeys([])).toEqual([""]);
  expect(prefixKeys(["a", 0])).toEqual(["", '"a",', '"a",0,']);
  fc.assert(
    fc.property(pathArbitrary, (path) => {
      expect(prefixKeys(path)).toEqual([...Array(path.length + 1).keys()].map((end) => pathKey(path.slice(0, end))));
    }),
  );
});

test("stores 28: the range of a key holds exactly the paths below it, in the order of UTF-8 bytes", () => {
  fc.assert(
    fc.property(pathArbitrary, pathArbitrary, fc.boolean(), (a, b, extend) => {
      const other = extend ? [...a, ...b] : b;
      const [from, to, key] = [pathKey(a), keyRangeEnd(pathKey(a)), pathKey(other)].map(bytes) as [
        Buffer,
        Buffer,
        Buffer,
      ];
      expect(from.compare(key) <= 0 && key.compare(to) < 0).toBe(isPrefix(a, other));
    }),
    { numRuns: 2000 },
  );
});

test("stores 24: lists of paths have one text, sorted, without repetition and without what lies below another path", () => {
  expect(encodePaths([])).toBe("[]");
  expect(encodePaths([["a"], []])).toBe("[[]]");
  expect(encodePaths([["b"], ["a", 1, "x"], ["a", "1"], ["b"], ["a", 1]])).toBe('[["a","1"],["a",1],["b"]]');
  fc.assert(
    fc.property(pathsArbitrary, fc.infiniteStream(fc.nat()), (paths, order) => {
      const text = encodePaths(paths);
      expect(encodePaths([...paths].sort(() => ((order.next().value as number) % 2) - 0.5))).toBe(text);
      const decoded = decodePaths(text);
      if (decoded.status === "invalid") throw new Error(decoded.message);
      expect(encodePaths(decoded.paths)).toBe(text);
      for (const path of paths) expect(decoded.paths.filter((kept) => isPrefix(kept, path))).toHaveLength(1);
      for (const kept of decoded.paths) expect(paths.map(pathKey)).toContain(pathKey(kept));
    }),
  );
});

test.each([
  ["text that is not JSON", "[["],
  ["an object", "{}"],
  ["a path that is no list", '["a"]'],
  ["null as a segment", "[[null]]"],
  ["a list as a segment", "[[[]]]"],
  ["a negative index", "[[-1]]"],
  ["a fraction", "[[1.5]]"],
  ["an index past what numbers can count", "[[9007199254740992]]"],
  ["overflow", "[[1e999]]"],
  // Looking a path up costs the square of its length, and the owner answers nobody meanwhile.
  [
    "a path that is longer than a state is deep",
    JSON.stringify([Array.from({ length: MAX_PATH_LENGTH + 1 }, () => 0)]),
  ],
])("stores 24: %s is refused as paths", (_what, text) => {
  expect(decodePaths(text)).toEqual({ status: "invalid", message: expect.stringMatching(/\.$/) });
});

test("stores 24: a path as long as the deepest state takes is read", () => {
  const deepest = [Array.from({ length: MAX_PATH_LENGTH }, () => "a")];
  expect(decodePaths(encodePaths(deepest))).toEqual({ status: "decoded", paths: deepest });
});

test("stores 27: up to 256 paths stay as they are", () => {
  const paths = Array.from({ length: 256 }, (_, index) => ["items", index, "id"]);
  expect(foldPaths(paths)).toEqual(paths);
});

test("stores 27: past 256 paths siblings fold into their container, and the rest keeps its precision", () => {
  const search = Array.from({ length: 5000 }, (_, index) => ["items", index, "id"]);
  expect(foldPaths([["user", "name"], ...search, ["user", "age"]])).toEqual([
    ["user", "name"],
    ["user", "age"],
    ["items"],
  ]);
});

test("stores 27: of two containers the wider one folds, and the narrower one only if that is not enough", () => {
  const wide = Array.from({ length: 200 }, (_, index) => ["wide", index]);
  const narrow = Array.from({ length: 100 }, (_, index) => ["narrow", index]);
  expect(foldPaths([...wide, ...narrow])).toEqual([["wide"], ...narrow]);
  expect(foldPaths([...wide, ...narrow], 99)).toEqual([["wide"], ["narrow"]]);
  expect(foldPaths([...wide, ...narrow], 1)).toEqual([[]]);
});

test("stores 27: what was inside a folded container counts no more, so that the limit holds", () => {
  const cells = Array.from({ length: 600 }, (_, index) => ["rows", Math.floor(index / 20), index % 20]);
  const others = Array.from({ length: 10 }, (_, index) => ["others", index]);
  expect(foldPaths([...cells, ...others], 5)).toEqual([["rows"], ["others"]]);
});

test("stores 29: folded paths reach all that the paths reached, and are within the limit", () => {
  fc.assert(
    fc.property(fc.array(pathArbitrary, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), (paths, limit) => {
      const folded = foldPaths(paths, limit);
      expect(folded.length).toBeLessThanOrEqual(limit);
      for (const path of paths) expect(folded.some((kept) => isPrefix(kept, path))).toBe(true);
      expect(encodePaths(folded)).toBe(encodePaths([...folded, ...paths]));
      for (const kept of folded) expect(paths.some((path) => isPrefix(kept, path))).toBe(true);
    }),
  );
});
