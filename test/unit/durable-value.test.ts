// oxlint-disable unicorn/no-array-reverse, unicorn/no-new-array -- what these rules warn of is what is tested
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  cloneDurable,
  decodeDurable,
  type DurableValue,
  durableEquals,
  encodeDurable,
} from "../../src/protocol/durable-value.js";
import type { StorePath } from "../../src/protocol/path.js";
import { durableArbitrary, KEYS, stateArbitrary } from "./state-arbitraries.js";

function canonical(value: unknown): string {
  const encoded = encodeDurable(value);
  if (encoded.status === "invalid") throw new Error(`${encoded.path.join(".")}: ${encoded.message}`);
  return encoded.canonical;
}

function decode(text: string): DurableValue {
  const decoded = decodeDurable(text);
  if (decoded.status === "invalid") throw new Error(decoded.message);
  return decoded.value;
}

function invalidAt(path: StorePath): unknown {
  return { status: "invalid", path, message: expect.stringMatching(/^\S.*\.$/) };
}

function nested(levels: number, leaf: unknown = 1): unknown {
  let value = leaf;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

class Inbox {
  messages = [];
}
class List extends Array<number> {}

const getter = {
  get a(): never {
    throw new Error("a getter ran");
  },
};
const selfish: Record<string, unknown> = { a: 1 };
selfish["b"] = [selfish];

test.each<[string, unknown, StorePath]>([
  ["undefined", { a: { b: undefined } }, ["a", "b"]],
  ["a function", [() => 1], [0]],
  ["a symbol", { a: Symbol("a") }, ["a"]],
  ["a bigint", [[1n]], [0, 0]],
  ["NaN", { a: Number.NaN }, ["a"]],
  ["Infinity", Number.POSITIVE_INFINITY, []],
  ["-Infinity", [Number.NEGATIVE_INFINITY], [0]],
  ["a Date", { at: new Date() }, ["at"]],
  ["a Map", { a: new Map() }, ["a"]],
  ["a Set", new Set(), []],
  ["a typed array", { a: new Uint8Array(2) }, ["a"]],
  ["an array buffer", { a: new ArrayBuffer(2) }, ["a"]],
  ["a regular expression", { a: /a/ }, ["a"]],
  ["a promise", { a: Promise.resolve() }, ["a"]],
  ["a boxed string", { a: Object("text") }, ["a"]],
  ["an instance of a class", { a: new Inbox() }, ["a"]],
  ["an object that inherits from another", { a: Object.create({}) }, ["a"]],
  ["an instance of a subclass of Array", { a: List.from([1]) }, ["a"]],
  ["an array without a prototype", { a: Object.setPrototypeOf([1], null) }, ["a"]],
  ["a getter", { b: [getter] }, ["b", 0, "a"]],
  ["a setter", { set a(_: unknown) {} }, ["a"]],
  [
    "a getter in an array",
    { b: Object.defineProperty([1, 2], 1, Object.getOwnPropertyDescriptor(getter, "a")!) },
    ["b", 1],
  ],
  // oxlint-disable-next-line no-sparse-arrays
  ["a hole", { a: [1, , 3] }, ["a", 1]],
  ["an array of nothing but a length", new Array(4_000_000_000), [0]],
  ["a property beside an array's elements", Object.assign([1, 2], { more: 3 }), ["more"]],
  ["a hidden property beside an array's elements", Object.defineProperty([1], "more", { value: 1 }), ["more"]],
  ["a symbol beside an array's elements", { a: Object.assign([1], { [Symbol.iterator]: 1 }) }, ["a"]],
  ["a hidden element", { a: Object.defineProperty([1, 2], 1, { enumerable: false }) }, ["a", 1]],
  ["a symbol as a key", { a: { [Symbol("a")]: 1 } }, ["a"]],
  ["a property that is not enumerable", { a: Object.defineProperty({}, "b", { value: 1 }) }, ["a", "b"]],
  [
    "an undefined __proto__",
    { a: JSON.parse('{"__proto__":{}}'), b: Object.defineProperty({}, "__proto__", { enumerable: true }) },
    ["b", "__proto__"],
  ],
  ["a cycle", { a: selfish }, ["a", "b", 0]],
  ["501 levels", nested(501), Array.from({ length: 500 }, (_, level) => (level % 2 === 0 ? "a" : 0))],
])("stores 21: %s is not durable, and is found where it is", (_what, value, path) => {
  expect(encodeDurable(value)).toEqual(invalidAt(path));
});

test("stores 21: null, booleans, finite numbers, strings, dense arrays and plain objects are durable", () => {
  const value = {
    nothing: null,
    yes: true,
    numbers: [0, -1.5, 5e-324, Number.MAX_VALUE, 1e21],
    text: 'é😀\ud800"\\\u0000\u2028',
    empty: [{}, [], ""],
    bare: Object.assign(Object.create(null), { a: 1 }),
  };
  expect(decode(canonical(value))).toEqual({ ...value, bare: { a: 1 } });
  expect(canonical(Object.freeze([Object.freeze({ a: 1 })]))).toBe('[{"a":1}]');
});

test("stores 21: 500 levels are durable, there and back", () => {
  expect(decode(canonical(nested(500)))).toEqual(nested(500));
});

test("stores 22: encoding never throws, whatever a proxy or its depth does", () => {
  const hostile = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("No.");
      },
    },
  );
  expect(encodeDurable({ a: [1, hostile] })).toEqual(invalidAt(["a", 1]));
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  expect(encodeDurable([revoked.proxy])).toMatchObject({ status: "invalid", path: [0] });
  expect(encodeDurable(nested(100_000)).status).toBe("invalid");
});

test("stores 22: encoding never runs a getter, not even for its message", () => {
  class Loud {
    static get name(): never {
      throw new Error("a getter ran");
    }
    get [Symbol.toStringTag](): never {
      throw new Error("a getter ran");
    }
  }
  expect(encodeDurable({ a: new Loud() })).toEqual(invalidAt(["a"]));
  const loud = Object.defineProperty({}, "constructor", Object.getOwnPropertyDescriptor(getter, "a")!);
  expect(encodeDurable({ a: Object.create(loud) })).toEqual(invalidAt(["a"]));
});

test("stores 22: what is written is what was checked, even if a proxy answers differently the second time", () => {
  let reads = 0;
  const fickle = new Proxy(
    { a: 1 },
    {
      getOwnPropertyDescriptor: () => ({ value: ++reads, writable: true, enumerable: true, configurable: true }),
      get: () => new Date(),
    },
  );
  expect(canonical(fickle)).toBe('{"a":1}');
});

test("stores 22: keys are sorted by UTF-16 code unit, integer-like keys too", () => {
  expect(canonical({ b: 1, a: 2, B: 3 })).toBe('{"B":3,"a":2,"b":1}');
  expect(canonical({ 9: 1, 10: 2, "!": 3, "-1": 4, a: { 2: 1, 11: 2 } })).toBe(
    '{"!":3,"-1":4,"10":2,"9":1,"a":{"11":2,"2":1}}',
  );
  expect(canonical([{ 10: { 2: 1, 1: [{ 10: 0, 9: 1 }] }, 9: 0 }])).toBe('[{"10":{"1":[{"10":0,"9":1}],"2":1},"9":0}]');
  // By code point the emoji would come last, by UTF-16 its surrogates come first.
  expect(canonical({ "\uff5e": 1, "😀": 2 })).toBe('{"😀":2,"\uff5e":1}');
  fc.assert(
    fc.property(durableArbitrary, (value) => {
      JSON.parse(canonical(value), (_key, part: unknown) => {
        expect(keysInText(canonical(part))).toEqual(
          part instanceof Object && !Array.isArray(part) ? Object.keys(part).sort() : [],
        );
        return part;
      });
    }),
  );
});

/** The keys of the outermost object of a canonical text, in their order there. */
function keysInText(text: string): string[] {
  if (!text.startsWith("{")) return [];
  const keys: string[] = [];
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*":?|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && token.endsWith(":")) keys.push(JSON.parse(token.slice(0, -1)) as string);
  }
  return keys;
}

test("stores 22: -0 is written as 0, and numbers and strings as JSON writes them", () => {
  expect(canonical([-0, 1e21, 1e-7, 0.1, 100])).toBe("[0,1e+21,1e-7,0.1,100]");
  expect(canonical('\u0000"\\\u2028\ud800é')).toBe(JSON.stringify('\u0000"\\\u2028\ud800é'));
});

test("stores 22: an object that is referred to from several places is written at each, and is no cycle", () => {
  const shared = { x: [1] };
  expect(canonical([shared, { a: shared, b: shared.x }])).toBe('[{"x":[1]},{"a":{"x":[1]},"b":[1]}]');
});

test("stores 22: __proto__ is a key like any other", () => {
  const text = '{"__proto__":{"10":1,"9":{"__proto__":null}},"a":1}';
  expect(canonical(JSON.parse(text))).toBe(text);
});

test("stores 22: equal values have one text, whatever the order of their keys and wherever they come from", () => {
  fc.assert(
    fc.property(durableArbitrary, (value) => {
      expect(canonical(reversed(value))).toBe(canonical(value));
      expect(canonical(decode(JSON.stringify(value)))).toBe(canonical(value));
    }),
    { numRuns: 1000 },
  );
});

/** The same value with the keys of its objects the other way round, and without prototypes. */
function reversed(value: DurableValue): DurableValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.create(null) as Record<string, DurableValue>;
  for (const [key, child] of Object.entries(value).reverse()) copy[key] = reversed(child);
  return copy;
}

test("stores 22: values have one text only if they are equal", () => {
  fc.assert(
    fc.property(durableArbitrary, durableArbitrary, (a, b) => {
      expect(canonical(a) === canonical(b)).toBe(durableEquals(a, b));
    }),
    { numRuns: 1000 },
  );
});

test("stores 22, 23: a durable value comes back as it was, and its text is a fixed point", () => {
  fc.assert(
    fc.property(durableArbitrary, (value) => {
      const text = canonical(value);
      const back = decode(text);
      expect(durableEquals(back, value)).toBe(true);
      expect(canonical(back)).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 1000 },
  );
});

test("stores 23: any JSON text whose value is durable is taken, sorted or not", () => {
  expect(decode(' { "b" : 1, "a" : [ -0, 1E2 ], "b" : 2 } ')).toEqual({ b: 2, a: [-0, 100] });
});

test.each([
  ["text that is not JSON", "{a:1}"],
  ["no text at all", ""],
  ["overflow", "1e999"],
  ["negative overflow, deep inside", '{"a":[{"b":-1e999}]}'],
  ["overflow by digits", "9".repeat(400)],
  ["501 levels", "[".repeat(501) + "]".repeat(501)],
  ["a million levels", "[".repeat(1_000_000) + "]".repeat(1_000_000)],
])("stores 23: %s is invalid", (_what, text) => {
  expect(decodeDurable(text)).toEqual({ status: "invalid", message: expect.stringMatching(/^\S.*/) });
});

test("stores 23: __proto__ becomes a property, and never a prototype", () => {
  const value = decode('{"__proto__":{"admin":true}}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(value["admin"]).toBeUndefined();
});

test("stores 20: values are compared as their texts would be, and what has no text equals itself alone", () => {
  const map = new Map();
  expect(durableEquals({ a: [0, { b: 1 }], c: 2 }, { c: 2, a: [-0, { b: 1 }] })).toBe(true);
  expect(durableEquals([], {})).toBe(false);
  expect(durableEquals({ a: undefined }, {})).toBe(false);
  expect(durableEquals({ a: undefined }, { b: undefined })).toBe(false);
  expect(durableEquals(undefined, undefined)).toBe(true);
  expect(durableEquals(Number.NaN, Number.NaN)).toBe(true);
  expect(durableEquals([map], [map])).toBe(true);
  expect(durableEquals([map], [new Map()])).toBe(false);
  expect(durableEquals(new Date(0), new Date(0))).toBe(false);
  expect(durableEquals(JSON.parse('{"__proto__":1}'), {})).toBe(false);
  const [left, right] = [{}, {}] as Record<string, unknown>[];
  left!["self"] = left;
  right!["self"] = right;
  expect(durableEquals(left, right)).toBe(false);
});

test("stores 15: a copy equals the value and shares nothing with it", () => {
  fc.assert(
    fc.property(stateArbitrary, (value) => {
      const copy = cloneDurable(value);
      expect(canonical(copy)).toBe(canonical(value));
      const parts = containersOf(value);
      expect(containersOf(copy).some((part) => parts.includes(part))).toBe(false);
    }),
  );
  expect(Object.keys(cloneDurable(JSON.parse('{"__proto__":{"a":[]}}') as object))).toEqual(["__proto__"]);
});

function containersOf(value: DurableValue): unknown[] {
  return typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(containersOf)] : [];
}

test("stores 22: every key that trips others up is sorted, written and read back", () => {
  const value = Object.fromEntries(KEYS.map((key, index) => [key, index]));
  const text = canonical(value);
  expect(keysInText(text)).toEqual([...KEYS].sort());
  for (const key of KEYS) expect((decode(text) as Record<string, unknown>)[key]).toBe(value[key]);
});
