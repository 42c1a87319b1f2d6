/** Which commits wake which waiters (stores 12, 24, 27). */
import { expect } from "vitest";
import type { StorePath } from "../../src/protocol/path.js";
import type { ConformanceCase } from "./conformance-case.js";
import { changed, reads, refused, remove, replace, seed, settle, waiter, woken, write } from "./requests.js";

export const waiterPathCases: readonly ConformanceCase[] = [
  {
    name: "stores 12: a commit wakes whose paths it touches, from above and from below, and nobody else",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      const other = await seed(connector, "b");
      await connector.registerWaiter(waiter("a", current, "above", reads(["users"])));
      await connector.registerWaiter(waiter("a", current, "same", reads(["users", "alice"])));
      await connector.registerWaiter(waiter("a", current, "below", reads(["users", "alice", "tags", 0])));
      await connector.registerWaiter(waiter("a", current, "root"));
      await connector.registerWaiter(waiter("a", current, "several", reads(["x"], ["users", "alice"], ["y"])));
      await connector.registerWaiter(waiter("a", current, "sibling", reads(["users", "bob"])));
      await connector.registerWaiter(waiter("a", current, "longer name", reads(["users", "alice2"])));
      await connector.registerWaiter(waiter("a", current, "elsewhere", reads(["orders", "alice"])));
      await connector.registerWaiter(waiter("b", other, "other store", reads(["users", "alice"])));
      await write(connector, "a", "1", changed(["users", "alice"]));
      expect(await woken(connector)).toEqual(["above", "below", "root", "same", "several"]);
    },
  },
  {
    name: "stores 12: a commit whose changed path is the root wakes every waiter of the store",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", current, "deep", reads(["a", 3, "b"])));
      await connector.registerWaiter(waiter("a", current, "root"));
      await write(connector, "a", "1");
      expect(await woken(connector)).toEqual(["deep", "root"]);
    },
  },
  {
    name: "stores 12: a commit wakes only waiters that read a version below its own",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      const later = { ...current, version: 2 };
      expect(await connector.registerWaiter(waiter("a", later, "later"))).toEqual({ status: "registered" });
      await write(connector, "a", "1");
      await write(connector, "a", "2");
      expect(await woken(connector)).toEqual([]);
      await write(connector, "a", "3");
      expect(await woken(connector)).toEqual(["later"]);
    },
  },
  {
    name: "stores 12: a wake and its commit are one: a refused commit wakes nobody",
    run: async (database) => {
      const connector = await database.connect();
      const a = await seed(connector, "a");
      await connector.registerWaiter(waiter("a", a, "W"));
      await refused(connector, replace("a", a, "1"), replace("none", a, "1"));
      await refused(connector, remove("a", { ...a, version: 5 }));
      expect(await woken(connector)).toEqual([]);
      await write(connector, "a", "1");
      expect(await woken(connector)).toEqual(["W"]);
    },
  },
  {
    name: "stores 27: keys with separators, NUL, quotes, digits, nothing or 400 characters never wake one for the other",
    run: async (database) => {
      const connector = await database.connect();
      const current = await seed(connector, "a");
      const places: readonly StorePath[] = [
        ["a", "b"],
        ["a.b"],
        ["a/b"],
        ["a,b"],
        ['a","b'],
        ["a\0b"],
        ["a\0"],
        ["a\\"],
        ["'"],
        ['"'],
        ["%"],
        ["_"],
        [""],
        ["", ""],
        ["1"],
        ["10"],
        ["01"],
        ["1e0"],
        ["9".repeat(400)],
        ["9".repeat(399)],
        ["-1"],
        ["list", 1],
        ["list", 10],
        ["list", 2],
        ["__proto__"],
        ["constructor"],
        ["\ud83d"],
        ["\ud83e"],
        ["é"],
        ["e\u0301"],
        ["A"],
      ];
      const contains = (outer: StorePath, inner: StorePath): boolean =>
        outer.every((segment, depth) => inner[depth] === segment);
      for (const [index, place] of places.entries()) {
        await connector.registerWaiter(waiter("a", current, `W${index}`, reads(place)));
      }
      for (const place of places) {
        await write(connector, "a", "{}", changed(place));
        const touched = places.flatMap((other, index) =>
          contains(place, other) || contains(other, place) ? [`W${index}`] : [],
        );
        expect({ place, woken: await woken(connector) }).toEqual({ place, woken: touched.sort() });
        await settle(connector);
      }
    },
  },
];
