// oxlint-disable unicorn/no-thenable, typescript/no-base-to-string -- what these rules warn of is what is tested
import { expect, test } from "vitest";
import { diffPaths } from "../../src/diff.js";
import type { DeepReadonly } from "../../src/durable-type.js";
import { DraftMisuseError } from "../../src/protocol/errors.js";
import { anyPathsIntersect, type StorePath } from "../../src/protocol/path.js";
import { matches, runSelector } from "../../src/selection.js";

interface User {
  name: string;
  age: number;
}
interface State {
  users: Record<string, User>;
  items: { id: number; done: boolean }[];
  flag: { on: boolean } | null;
  other: { x: number };
}

function state(): State {
  return {
    users: { alice: { name: "Alice", age: 30 }, bob: { name: "Bob", age: 40 } },
    items: [1, 2, 3].map((id) => ({ id, done: false })),
    flag: { on: true },
    other: { x: 1 },
  };
}

type Selector = (state: DeepReadonly<State>) => unknown;

function select(selector: Selector): { result: unknown; readPaths: StorePath[] } {
  const base = state();
  const selection = runSelector(base, selector);
  expect(base).toEqual(state());
  return selection;
}

function paths(selector: Selector): StorePath[] {
  return select(selector).readPaths;
}

/** Whether a waiter with this selector wakes when the state changes like that. */
function wakes(selector: Selector, change: (state: State) => void): boolean {
  const next = state();
  change(next);
  return anyPathsIntersect(paths(selector), diffPaths(state(), next));
}

const aliceName: Selector = ({ users }) => users["alice"]?.name;

test("stores 26: a waiter on users.alice.name is woken by what concerns it, and not by users.bob nor users.alice.age", () => {
  expect(paths(aliceName)).toEqual([["users", "alice", "name"]]);
  expect(wakes(aliceName, ({ users }) => (users["alice"]!.name = "A"))).toBe(true);
  expect(wakes(aliceName, ({ users }) => delete users["alice"])).toBe(true);
  expect(wakes(aliceName, (next) => (next.users = {}))).toBe(true);
  expect(wakes(aliceName, ({ users }) => (users["bob"]!.name = "B"))).toBe(false);
  expect(wakes(aliceName, ({ users }) => delete users["bob"])).toBe(false);
  expect(wakes(aliceName, ({ users }) => (users["carol"] = { name: "C", age: 1 }))).toBe(false);
  expect(wakes(aliceName, ({ users }) => (users["alice"]!.age = 31))).toBe(false);
});

test("stores 26: an object that was only looked at for being there is read as a whole, one that was walked through is not", () => {
  expect(paths(({ flag, other }) => (flag ? other.x : 0))).toEqual([["flag"], ["other", "x"]]);
  expect(paths(({ flag }) => flag?.on)).toEqual([["flag", "on"]]);
  expect(
    wakes(
      ({ flag, other }) => (flag ? other.x : 0),
      (next) => (next.flag = null),
    ),
  ).toBe(true);
  expect(
    wakes(
      ({ flag }) => flag?.on,
      (next) => (next.flag = null),
    ),
  ).toBe(true);
});

test("stores 26: what the result contains is read, with all that lies below it", () => {
  expect(paths(({ users }) => users["alice"])).toEqual([["users", "alice"]]);
  expect(paths(({ items }) => items.find(({ id }) => id === 2))).toEqual([
    ["items", "length"],
    ["items", 0, "id"],
    ["items", 1],
  ]);
  expect(paths(({ users }) => ({ deep: [{ user: users["bob"] }] }))).toEqual([["users", "bob"]]);
  expect(paths((whole) => [whole])).toEqual([[]]);
});

test("stores 26: a selector that read nothing reads the root", () => {
  expect(paths(() => 1)).toEqual([[]]);
  expect(runSelector(5, (count) => count + 1)).toEqual({ result: 6, readPaths: [[]] });
  expect(runSelector(null, () => undefined)).toEqual({ result: undefined, readPaths: [[]] });
});

test.each<[string, Selector]>([
  ["Object.keys", (whole) => Object.keys(whole)],
  ["Object.values", (whole) => Object.values(whole).length],
  ["Object.entries", (whole) => Object.entries(whole).length],
  [
    "for in",
    (whole) => {
      for (const key in whole) return key;
      return undefined;
    },
  ],
  ["spreading", (whole) => ({ ...whole }).other.x],
  ["the rest of a destructuring", ({ users, ...rest }) => [typeof users, Object.keys(rest)]],
  ["Object.assign", (whole) => Object.assign({}, whole).other.x],
  ["JSON.stringify", (whole) => JSON.stringify(whole)],
  ["Reflect.ownKeys", (whole) => Reflect.ownKeys(whole).length],
  ["Object.getOwnPropertyDescriptors", (whole) => Object.keys(Object.getOwnPropertyDescriptors(whole))],
])("stores 26: %s observes the keys of a container, and so reads it", (_what, selector) => {
  expect(paths(selector)).toEqual([[]]);
  expect(wakes(selector, (next) => Object.assign(next, { added: 1 }))).toBe(true);
});

test.each<[string, Selector]>([
  ["in", (whole) => "missing" in whole],
  ["Object.hasOwn", (whole) => Object.hasOwn(whole, "missing")],
  ["hasOwnProperty", (whole) => Object.prototype.hasOwnProperty.call(whole, "missing")],
  ["propertyIsEnumerable", (whole) => Object.prototype.propertyIsEnumerable.call(whole, "missing")],
  ["reading what is not there", (whole) => (whole as unknown as Record<string, unknown>)["missing"]],
])("stores 26: %s observes one key, and reads that", (_what, selector) => {
  expect(paths(selector)).toEqual([["missing"]]);
  expect(wakes(selector, (next) => Object.assign(next, { missing: 1 }))).toBe(true);
  expect(wakes(selector, (next) => Object.assign(next, { added: 1 }))).toBe(false);
});

test("stores 26: asking whether a part is there and then looking into it reads what was looked at", () => {
  expect(paths(({ users }) => "alice" in users && users["alice"].name)).toEqual([["users", "alice", "name"]]);
  expect(paths(({ users }) => "alice" in users)).toEqual([["users", "alice"]]);
});

test("stores 26: an inherited name is read as the key that it would be", () => {
  const selector: Selector = ({ users }) => typeof users["constructor"];
  expect(select(selector)).toEqual({ result: "function", readPaths: [["users", "constructor"]] });
  expect(select(({ users }) => users["__proto__"])).toEqual({ result: undefined, readPaths: [["users", "__proto__"]] });
  expect(paths(({ users }) => typeof users.toString())).toEqual([["users", "toString"]]);
});

test.each<[string, Selector, StorePath[]]>([
  ["length", ({ items }) => items.length, [["items", "length"]]],
  ["an element", ({ items }) => items[1]?.id, [["items", 1, "id"]]],
  ["an element that is not there", ({ items }) => items[7], [["items", 7]]],
  [
    "at",
    ({ items }) => items.at(-1)?.id,
    [
      ["items", "length"],
      ["items", 2, "id"],
    ],
  ],
  ["in", ({ items }) => 7 in items, [["items", "length"]]],
  [
    "in, beside a look at an element",
    ({ items }) => [3 in items, items[0]?.id],
    [
      ["items", "length"],
      ["items", 0, "id"],
    ],
  ],
  [
    "destructuring",
    ({ items: [first] }) => first?.id,
    [
      ["items", "length"],
      ["items", 0, "id"],
    ],
  ],
  [
    "for of",
    ({ items }) => {
      for (const { id } of items) if (id === 2) return id;
      return undefined;
    },
    [
      ["items", "length"],
      ["items", 0, "id"],
      ["items", 1, "id"],
    ],
  ],
  [
    "findIndex",
    ({ items }) => items.findIndex(({ id }) => id === 1),
    [
      ["items", "length"],
      ["items", 0, "id"],
    ],
  ],
  [
    "filter",
    ({ items }) => items.filter(({ done }) => done).length,
    [
      ["items", "length"],
      ["items", 0, "done"],
      ["items", 1, "done"],
      ["items", 2, "done"],
    ],
  ],
  [
    "map",
    ({ items }) => items.map(({ id }) => id),
    [
      ["items", "length"],
      ["items", 0, "id"],
      ["items", 1, "id"],
      ["items", 2, "id"],
    ],
  ],
  [
    "slice",
    ({ items }) => items.slice(1, 2),
    [
      ["items", "length"],
      ["items", 1],
    ],
  ],
  [
    "spreading",
    ({ items }) => [...items].length,
    [
      ["items", "length"],
      ["items", 0],
      ["items", 1],
      ["items", 2],
    ],
  ],
  [
    "its keys",
    ({ items }) => Object.keys(items).length,
    [
      ["items", "length"],
      ["items", 0],
      ["items", 1],
      ["items", 2],
    ],
  ],
  ["a method that is not called", ({ items }) => typeof items.map, [["items"]]],
  ["nothing", ({ items }) => Array.isArray(items), [["items"]]],
])("stores 26: of an array, %s reads just what it looks at", (_what, selector, expected) => {
  expect(paths(selector)).toEqual(expected);
});

test("stores 26: a search in an array is not woken by what it did not look at", () => {
  const search: Selector = ({ items }) => items.some(({ id }) => id === 3);
  expect(wakes(search, ({ items }) => (items[0]!.done = true))).toBe(false);
  expect(wakes(search, ({ items }) => (items[2]!.id = 4))).toBe(true);
  expect(wakes(search, ({ items }) => items.pop())).toBe(true);
});

test("stores 24: an index of an array and a key of an object are different segments", () => {
  expect(runSelector({ list: ["a"], map: { 0: "a" } }, ({ list, map }) => [list[0], map[0]]).readPaths).toEqual([
    ["list", 0],
    ["map", "0"],
  ]);
});

test("stores 27: a search over 5,000 items leaves one path behind, beside what else was read", () => {
  const many = Array.from({ length: 5000 }, (_, id) => ({ id, done: id % 2 === 0 }));
  const { result, readPaths } = runSelector({ many, user: { name: "Ada" } }, ({ many: all, user }) => [
    user.name,
    all.find(({ id }) => id === 4999)?.done,
  ]);
  expect(result).toEqual(["Ada", false]);
  expect(readPaths).toEqual([["many"], ["user", "name"]]);
});

test("stores 27: a search over 200 items keeps its paths", () => {
  const many = Array.from({ length: 200 }, (_, id) => ({ id }));
  expect(runSelector({ many }, ({ many: all }) => all.some(({ id }) => id < 0)).readPaths).toHaveLength(201);
});

test("stores 27: keys of every kind are read as they are", () => {
  const keys = ["a.b", "a\0b", "", "0", "length", "__proto__", '"', "then", "9".repeat(400)];
  const odd = Object.fromEntries(keys.map((key) => [key, { value: key }]));
  const { result, readPaths } = runSelector(odd, (view) => keys.map((key) => view[key]?.value));
  expect(result).toEqual(keys);
  expect(readPaths).toEqual(keys.map((key) => [key, "value"]));
});

test("stores 15: a result is detached from the state, wherever parts of the state are in it", () => {
  const base = state();
  const { result } = runSelector(base, ({ users, items }) => ({ alice: users["alice"], list: [items, items[0]] }));
  const mine = result as unknown as { alice: User; list: [State["items"], State["items"][0]] };
  mine.alice.name = "changed";
  mine.list[0][1]!.id = 99;
  mine.list[1].id = 99;
  expect(base).toEqual(state());
});

test("stores 26: a result may be what could not be stored, and stays as it is", () => {
  const date = new Date(0);
  const made = select(({ items }) => [
    date,
    undefined,
    new Map([["count", items.length]]),
    Number.NaN,
    { symbol: Symbol.iterator },
  ]);
  expect(made.result).toEqual([date, undefined, new Map([["count", 3]]), Number.NaN, { symbol: Symbol.iterator }]);
  expect((made.result as unknown[])[0]).toBe(date);
});

test("stores 26: a result with a cycle keeps it", () => {
  const { result } = select(({ users }) => {
    const loop: Record<string, unknown> = { user: users["bob"] };
    loop["self"] = loop;
    return loop;
  });
  const loop = result as { self: unknown; user: User };
  expect(loop.self).toBe(loop);
  expect(loop.user).toEqual({ name: "Bob", age: 40 });
});

test("stores 26: a part that a result holds many times is copied once", () => {
  const many = Array.from({ length: 5000 }, (_, id) => ({ id }));
  const { result } = runSelector({ many }, (view) => view.many.map((item) => ({ item, all: view.many })));
  expect(result[0]?.all).toHaveLength(5000);
  expect(result.every(({ all }) => all === result[0]?.all)).toBe(true);
});

test("stores 26: equal looks give the same part, so that parts can be compared and found", () => {
  expect(
    select(({ users, items }) => [users["bob"] === users["bob"], items.indexOf(items[1]!), items.includes(items[2]!)])
      .result,
  ).toEqual([true, 1, true]);
});

test.each<[string, (state: State) => unknown]>([
  ["assigning", ({ users }) => (users["alice"]!.name = "A")],
  ["deleting", ({ users }) => delete users["alice"]],
  ["sorting in place", ({ items }) => items.sort((a, b) => b.id - a.id)],
  ["pushing", ({ items }) => items.push({ id: 4, done: false })],
  ["defining", (whole) => Object.defineProperty(whole, "x", { value: 1 })],
  ["freezing", ({ other }) => Object.freeze(other)],
  ["changing the prototype", ({ other }) => Object.setPrototypeOf(other, null)],
])("stores 3: %s in a selector is refused, and nothing is changed", (_what, write) => {
  expect(() => select(write as Selector)).toThrow(DraftMisuseError);
});

test("stores 3: a selector that returns a promise is refused, also inside of its own object", () => {
  expect(() => select(async ({ other }) => other.x)).toThrow(/^The selector returned a promise/);
  expect(() => select(() => ({ then: () => {} }))).toThrow(DraftMisuseError);
});

test("stores 26: a key named then is no promise, and asking for one is no read", () => {
  expect(runSelector({ then: "later", now: 1 }, (whole) => whole)).toEqual({
    result: { then: "later", now: 1 },
    readPaths: [[]],
  });
  expect(paths(({ users }) => users["alice"])).toEqual([["users", "alice"]]);
});

test("stores 15: a part of the state that got out of its selector throws when it is used", () => {
  let kept!: DeepReadonly<User>;
  const { result } = select(({ users }) => {
    kept = users["alice"]!;
    return new Map([["alice", kept]]);
  });
  expect(() => kept.name).toThrow(DraftMisuseError);
  expect(() => (result as Map<string, User>).get("alice")!.name).toThrow(/after the selector had returned/);
  expect(() => Object.keys(kept)).toThrow(DraftMisuseError);
  expect(() => "name" in kept).toThrow(DraftMisuseError);
});

test("stores 20: an error that a selector throws comes out as it is", () => {
  const mine = new Error("mine");
  expect(() =>
    select(() => {
      throw mine;
    }),
  ).toThrow(mine);
});

test("stores 8: a result matches unless it is undefined, null or false", () => {
  expect([undefined, null, false].some(matches)).toBe(false);
  expect([0, "", [], {}, true, Number.NaN].every(matches)).toBe(true);
});
