import * as fc from "fast-check";
import { expect, test } from "vitest";
import { poolDirectory } from "../../worker/opfs-pool.js";

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 400, unit: "grapheme" }),
  fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom("a", "A", "_", ".", "/", "4", "1", "ä") }),
);

test("P2: no two database names share a directory, and none lies inside another's", () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      fc.pre(one !== other);
      const [first, second] = [poolDirectory(one), poolDirectory(other)];
      // Some file systems do not tell capitals apart.
      expect(first.toLowerCase()).not.toBe(second.toLowerCase());
      expect(first.startsWith(`${second}/`)).toBe(false);
    }),
  );
});

test("P2: whatever a database is called, its directory has segments that every file system takes", () => {
  fc.assert(
    fc.property(name, (any) => {
      const [parent, ...segments] = poolDirectory(any).split("/");
      expect(parent).toBe(".wakeful");
      expect(segments.length).toBeGreaterThan(0);
      for (const segment of segments) expect(segment).toMatch(/^[a-z0-9_-]{1,120}(\.db)?$/);
    }),
  );
});
