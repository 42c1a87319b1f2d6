// oxlint-disable unicorn/no-thenable, unicorn/no-array-reverse, unicorn/no-new-array, unicorn/no-instanceof-builtins, no-self-assign, typescript/require-array-sort-compare, typescript/no-base-to-string -- what these rules warn of is what is tested
import { expect, test } from "vitest";
import { applyUpdater, type Revision } from "../../src/draft.js";
import { encodeDurable } from "../../src/protocol/durable-value.js";
import { DraftMisuseError } from "../../src/protocol/errors.js";

interface Item {
  id: number;
  done?: boolean;
  tags?: string[];
}
interface State {
  items: Item[];
  user: { name: string; age?: number };
  [key: string]: unknown;
}

function state(): State {
  return { items: [{ id: 1, tags: ["a"] }, { id: 2 }, { id: 3 }], user: { name: "Ada" } };
}

function update(updater: (draft: State) => unknown): Revision & { readonly next: State } {
  const base = state();
  const revision = applyUpdater(base, updater as never);
  expect(base).toEqual(state());
  return revision as Revision & { readonly next: State };
}

/** The message of the misuse that the action is. */
function misuse(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof DraftMisuseError) return error.message;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

test("stores 16: an updater may change the draft, and the state stays as it was", () => {
  const { next, changedPaths } = update((draft) => {
    draft.items[1]!.done = true;
    draft.user.name = "Bob";
  });
  expect(next).toEqual({ items: [{ id: 1, tags: ["a"] }, { id: 2, done: true }, { id: 3 }], user: { name: "Bob" } });
  expect(changedPaths).toEqual([
    ["items", 1, "done"],
    ["user", "name"],
  ]);
});

test("stores 16: an updater may return a replacement instead, also one made of parts of the draft", () => {
  const { next, changedPaths } = update((draft) => ({ ...draft, user: { name: "Bob" }, first: draft.items[0] }));
  expect(next).toEqual({ ...state(), user: { name: "Bob" }, first: { id: 1, tags: ["a"] } });
  expect(changedPaths).toEqual([["user", "name"], ["first"]]);
});

test("stores 16: an updater may return a part of the draft as the replacement", () => {
  expect(update((draft) => draft.user)).toEqual({
    next: { name: "Ada" },
    changedPaths: [["items"], ["user"], ["name"]],
  });
});

test("stores 16: returning the draft itself is the same as changing it", () => {
  const { next, changedPaths } = update((draft) => Object.assign(draft, { extra: 1 }));
  expect(next["extra"]).toBe(1);
  expect(changedPaths).toEqual([["extra"]]);
});

test("stores 16: a state that is no object is replaced by what the updater returns, and kept if it returns nothing", () => {
  expect(applyUpdater(5, (draft) => draft + 1)).toEqual({ next: 6, changedPaths: [[]] });
  expect(applyUpdater(5, () => undefined)).toEqual({ next: 5, changedPaths: [] });
  expect(applyUpdater(5, () => ({ count: 5 }))).toEqual({ next: { count: 5 }, changedPaths: [[]] });
  expect(applyUpdater<number | null>(null, () => 1)).toEqual({ next: 1, changedPaths: [[]] });
});

test("stores 16: changing the draft and returning something else too is an error that says so", () => {
  const message = misuse(() => update((draft) => draft.items.push({ id: 4 })));
  expect(message).toContain("changed the draft and also returned a number");
  expect(message).toContain("{ draft.items.push(x); }");
  expect(misuse(() => update((draft) => ({ ...draft, user: (draft.user.name = "Bob") })))).toContain(
    "returned an object",
  );
  expect(misuse(() => update((draft) => draft.items.splice(0, 1)))).toContain("returned an array");
  expect(misuse(() => update((draft) => Reflect.deleteProperty(draft, "user")))).toContain("returned true");
});

test("stores 16: returning what is no object where the state is one is an error that says so, even with nothing changed", () => {
  for (const returned of [1, "text", true, null]) {
    expect(misuse(() => update(() => returned))).toContain("but the state is an object");
  }
});

test("stores 16: a write that changes nothing is none, so that a replacement may be returned after it", () => {
  const { next } = update((draft) => {
    draft.user.name = "Ada";
    draft.user = draft.user;
    draft.items.sort((a, b) => a.id - b.id);
    delete draft["missing"];
    return { ...draft, extra: 1 };
  });
  expect(next["extra"]).toBe(1);
});

test("stores 3: an updater that returns a promise is refused, and its failing later goes unheard", async () => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", listen);
  const later = misuse(() =>
    update(async (draft) => {
      draft.user.name = "Bob";
      await Promise.resolve();
      draft.user.name = "Eve";
    }),
  );
  expect(later).toContain("returned a promise");
  expect(misuse(() => update(() => ({ then: () => {} })))).toContain("returned a promise");
  // Node reports unhandled rejections between two turns of its loop.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", listen);
  expect(unhandled).toEqual([]);
});

test("stores 15: a draft throws once its updater has returned, nested ones too, and mere reads as well", () => {
  let root!: State;
  let nested!: Item[];
  let assigned!: Item;
  update((draft) => {
    root = draft;
    nested = draft.items;
    draft.items.push({ id: 4 });
    assigned = draft.items[3]!;
  });
  const uses: (() => unknown)[] = [
    () => root.user,
    () => (root.user = { name: "Eve" }),
    () => nested.push({ id: 5 }),
    () => nested.length,
    () => nested[0],
    () => assigned.id,
    () => (assigned.id = 5),
    () => "items" in root,
    () => Object.keys(root),
    () => Reflect.deleteProperty(root, "user"),
    () => Object.defineProperty(root, "x", { value: 1 }),
    () => Object.getOwnPropertyDescriptor(root, "user"),
    () => JSON.stringify(root),
    () => ({ ...root }),
    () => [...nested],
  ];
  for (const use of uses) expect(misuse(use)).toContain("after its updater had returned");
});

test("stores 15: a draft throws also after an updater that failed, and in the updater of another run", () => {
  let kept!: State;
  expect(() =>
    update((draft) => {
      kept = draft;
      throw new RangeError("mine");
    }),
  ).toThrow(RangeError);
  expect(misuse(() => kept.user)).toContain("after its updater had returned");
  expect(misuse(() => update((draft) => void (draft["kept"] = kept)))).toContain("after its updater had returned");
  expect(misuse(() => update(() => kept))).toContain("after its updater had returned");
});

test("stores 15: what the caller assigned is copied: edits afterwards do not reach the result, edits before do", () => {
  const item: Item = { id: 4, tags: ["x"] };
  const { next } = update((draft) => {
    draft.items.push(item);
    expect(draft.items.at(-1)!.tags).toEqual(["x"]);
    item.tags!.push("y");
    item.done = true;
  });
  item.id = 99;
  item.tags!.push("z");
  expect(next.items[3]).toEqual({ id: 4, tags: ["x", "y"], done: true });
});

test("stores 15: what the caller returned is copied, too", () => {
  const replacement = state();
  const { next } = update(() => replacement);
  replacement.items[0]!.id = 99;
  expect(next).toEqual(state());
});

test("stores 4: an updater never changes what the caller assigned, so that running it again is the same", () => {
  const item = Object.freeze({ id: 4, tags: Object.freeze([]) as unknown as string[] });
  const updater = (draft: State): void => {
    draft.items.push(item);
    const added = draft.items.at(-1)!;
    added.id += 1;
    added.tags!.push("new");
  };
  for (let run = 0; run < 2; run++) expect(update(updater).next.items[3]).toEqual({ id: 5, tags: ["new"] });
  expect(item).toEqual({ id: 4, tags: [] });
});

test("stores 15: the result shares with the state what did not change, and no more", () => {
  const base = Object.freeze({
    a: Object.freeze({ x: 1 }),
    b: Object.freeze([Object.freeze({ y: 1 }), Object.freeze({ y: 2 })]),
  });
  const { next } = applyUpdater(base, (draft) => {
    // Reading copies nothing.
    for (const element of draft.b) expect(element.y).toBeGreaterThan(0);
    draft.b[1]!.y = 1;
  }) as { next: typeof base };
  expect(next.a).toBe(base.a);
  expect(next.b[0]).toBe(base.b[0]);
  expect(next.b[1]).not.toBe(base.b[1]);
  expect(applyUpdater(base, () => {}).next).toBe(base);
});

test("stores 25: every method that changes an array reports what it changed, with full paths", () => {
  const changes = (updater: (array: (number | { a: number })[]) => unknown): unknown =>
    applyUpdater({ list: [3, 1, 2, { a: 1 }] }, (draft) => void updater(draft.list)).changedPaths.map(([, ...path]) =>
      path.join("."),
    );
  expect(changes((array) => array.push(4))).toEqual(["4", "length"]);
  expect(changes((array) => array.pop())).toEqual(["3", "length"]);
  expect(changes((array) => array.shift())).toEqual(["0", "1", "2", "3", "length"]);
  expect(changes((array) => array.unshift(3))).toEqual(["1", "2", "3", "4", "length"]);
  expect(changes((array) => array.splice(1, 1))).toEqual(["1", "2", "3", "length"]);
  expect(changes((array) => array.splice(1, 1, 9))).toEqual(["1"]);
  expect(changes((array) => array.sort())).toEqual(["0", "1", "2"]);
  expect(changes((array) => array.reverse())).toEqual(["0", "1", "2", "3"]);
  expect(changes((array) => array.fill(0, 1, 3))).toEqual(["1", "2"]);
  expect(changes((array) => array.copyWithin(0, 2, 3))).toEqual(["0"]);
  expect(changes((array) => (array.length = 1))).toEqual(["1", "2", "3", "length"]);
  expect(changes((array) => ((array[3] as { a: number }).a = 2))).toEqual(["3.a"]);
});

test("stores 25: a write that changes nothing is no write, nor is one that is taken back", () => {
  const { changedPaths } = update((draft) => {
    draft.user.name = "Ada";
    draft.items.push({ id: 4 });
    draft.items.pop();
    draft.items[0] = { id: 1, tags: ["a"] };
    draft["count"] = -0;
    delete draft["count"];
  });
  expect(changedPaths).toEqual([]);
  expect(applyUpdater({ zero: 0 }, (draft) => void (draft.zero = -0)).changedPaths).toEqual([]);
});

test("stores 25: defining a property is a write, and so is deleting one", () => {
  const { next, changedPaths } = update((draft) => {
    Object.defineProperty(draft, "defined", { value: { x: 1 }, writable: true, enumerable: true, configurable: true });
    Object.defineProperty(draft, "brief", { value: 1 });
    Object.defineProperty(draft.user, "name", { value: "Bob" });
    Object.defineProperty(draft.items, "length", { value: 1 });
    Reflect.deleteProperty(draft.items[0]!, "tags");
  });
  expect(next).toEqual({ items: [{ id: 1 }], user: { name: "Bob" }, defined: { x: 1 }, brief: 1 });
  expect(Object.keys(next)).toContain("brief");
  expect(changedPaths).toEqual([
    ["items", 0, "tags"],
    ["items", 1],
    ["items", 2],
    ["items", "length"],
    ["user", "name"],
    ["defined"],
    ["brief"],
  ]);
});

test("stores 21: a draft refuses to be given a getter, a hidden or a read-only property, a prototype, or to be frozen", () => {
  const attempts: ((draft: State) => unknown)[] = [
    (draft) => Object.defineProperty(draft, "x", { get: () => 1 }),
    (draft) => Object.defineProperty(draft, "x", { value: 1, enumerable: false }),
    (draft) => Object.defineProperty(draft, "x", { value: 1, writable: false }),
    (draft) => Object.defineProperty(draft.items, 0, { value: 1, configurable: false }),
    (draft) => Object.setPrototypeOf(draft, null),
    (draft) => Object.freeze(draft.user),
    (draft) => Object.preventExtensions(draft),
  ];
  for (const attempt of attempts) expect(misuse(() => update((draft) => void attempt(draft)))).toMatch(/^A draft /);
});

test("stores 25: a part that was moved or aliased inside the draft hides no path", () => {
  const { next, changedPaths } = update((draft) => {
    const [first] = draft.items;
    draft["alias"] = draft.user;
    draft.items[0] = draft.items[2]!;
    draft.items[2] = first!;
    (draft["alias"] as State["user"]).name = "Bob";
    first!.id = 7;
  });
  expect(next).toEqual({
    items: [{ id: 3 }, { id: 2 }, { id: 7, tags: ["a"] }],
    user: { name: "Bob" },
    alias: { name: "Bob" },
  });
  expect(changedPaths).toEqual([
    ["items", 0, "id"],
    ["items", 0, "tags"],
    ["items", 2, "id"],
    ["items", 2, "tags"],
    ["user", "name"],
    ["alias"],
  ]);
});

test("stores 25: parts of a state that happen to be one object are changed one by one, as when read from storage", () => {
  const shared = { x: 1 };
  const { next, changedPaths } = applyUpdater({ a: shared, b: shared, c: [shared] }, (draft) => {
    draft.a.x = 2;
    draft.c[0]!.x = 3;
  });
  expect(next).toEqual({ a: { x: 2 }, b: { x: 1 }, c: [{ x: 3 }] });
  expect(changedPaths).toEqual([
    ["a", "x"],
    ["c", 0, "x"],
  ]);
});

test("stores 25: __proto__ is a key like any other, and leads to no prototype", () => {
  const base = JSON.parse('{"votes":{"__proto__":{"count":1}},"none":{}}') as Record<string, Record<string, unknown>>;
  const { next, changedPaths } = applyUpdater(base, (draft) => {
    (draft["votes"]!["__proto__"] as { count: number }).count += 1;
    expect(draft["none"]!["__proto__"]).toBeUndefined();
    expect("__proto__" in draft["none"]!).toBe(false);
    draft["none"]!["__proto__"] = { polluted: true };
  });
  expect(encodeDurable(next)).toEqual({
    status: "encoded",
    canonical: '{"none":{"__proto__":{"polluted":true}},"votes":{"__proto__":{"count":2}}}',
  });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect(changedPaths).toEqual([
    ["votes", "__proto__", "count"],
    ["none", "__proto__"],
  ]);
});

test("stores 14: what is not durable is kept as it is, for the encoding to find it where it was put", () => {
  const symbol = Symbol("key");
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  const attempts: [(draft: State) => unknown, (string | number)[]][] = [
    [(draft) => (draft.user.age = undefined as never), ["user", "age"]],
    [(draft) => (draft["at"] = new Date()), ["at"]],
    [(draft) => draft.items.push(new Map() as never), ["items", 3]],
    [
      (draft) =>
        (draft["x"] = {
          get y() {
            throw new Error("a getter ran");
          },
        }),
      ["x", "y"],
    ],
    [(draft) => (draft["x"] = Object.defineProperty({}, "y", { value: 1 })), ["x", "y"]],
    [(draft) => Object.assign(draft.user, { [symbol]: 1 }), ["user"]],
    [(draft) => Object.assign(draft.items, { more: 1 }), ["items", "more"]],
    [(draft) => (draft.items.length = 4_000_000_000), ["items", 3]],
    [(draft) => (draft["x"] = Object.assign([1], { more: 1 })), ["x", "more"]],
    [(draft) => (draft["x"] = new Array(4_000_000_000)), ["x", 0]],
    [(draft) => (draft["x"] = cyclic), ["x", "self"]],
    [(draft) => (draft["x"] = [draft]), ["x", 0]],
    [(draft) => (draft.user["up" as "name"] = draft as never), ["user", "up"]],
    [(draft) => (draft["x"] = deep), ["x", ...Array.from({ length: 499 }, () => 0)]],
  ];
  for (const [attempt, path] of attempts) {
    const { next } = update((draft) => void attempt(draft));
    expect(encodeDurable(next)).toMatchObject({ status: "invalid", path });
  }
});

test("stores 14: a chain of drafts too deep to be stored ends as invalid and not in a stack overflow", () => {
  const { next } = update((draft) => {
    let last = draft as Record<string, unknown>;
    for (let level = 0; level < 20_000; level++) {
      last["next"] = {};
      last = last["next"] as Record<string, unknown>;
    }
    last["end"] = true;
  });
  expect(encodeDurable(next)).toMatchObject({ status: "invalid", path: Array.from({ length: 500 }, () => "next") });
});

test("stores 14: an error that the updater throws comes out as it is", () => {
  const mine = new Error("mine");
  expect(() =>
    update(() => {
      throw mine;
    }),
  ).toThrow(mine);
});

test("stores 22: encoding reads through drafts", () => {
  update((draft) => {
    draft.user.age = 36;
    draft.items.shift();
    expect(encodeDurable(draft)).toEqual({
      status: "encoded",
      canonical: '{"items":[{"id":2},{"id":3}],"user":{"age":36,"name":"Ada"}}',
    });
    expect(encodeDurable([draft.user])).toEqual({ status: "encoded", canonical: '[{"age":36,"name":"Ada"}]' });
  });
});

test("stores 16: a draft looks like the data it stands for", () => {
  update((draft) => {
    expect(Array.isArray(draft.items)).toBe(true);
    expect(draft.items instanceof Array).toBe(true);
    expect(draft).toEqual(state());
    expect(JSON.stringify(draft)).toBe(JSON.stringify(state()));
    expect(Object.entries(draft.user)).toEqual([["name", "Ada"]]);
    expect(draft.items.concat([{ id: 4 }]).map((item) => item.id)).toEqual([1, 2, 3, 4]);
    expect(draft.items.indexOf(draft.items[1]!)).toBe(1);
    expect(Object.getOwnPropertyDescriptor(draft.items, "length")).toMatchObject({ value: 3, enumerable: false });
    expect(draft.toString()).toBe("[object Object]");
  });
  applyUpdater(Object.freeze({ list: Object.freeze([1]) }), (draft) => {
    expect(Object.getOwnPropertyDescriptor(draft, "list")).toMatchObject({ writable: true, configurable: true });
    expect(Object.getOwnPropertyDescriptor(draft.list, "length")).toMatchObject({ writable: true });
  });
});

test("stores 27: past 256 changed paths siblings fold, and a length set by mistake is not walked through", () => {
  const base = { many: Array.from({ length: 5000 }, (_, id) => ({ id, done: false })), few: { a: 1 } };
  const { changedPaths } = applyUpdater(base, (draft) => {
    for (const item of draft.many) item.done = true;
    draft.few.a = 2;
  });
  expect(changedPaths).toEqual([["many"], ["few", "a"]]);
  expect(applyUpdater(base, (draft) => void (draft.many.length = 4_000_000_000)).changedPaths).toEqual([["many"]]);
});
