/** Random durable values: small, with few keys, so that two of them often have places in common, and with nasty ones. */
import * as fc from "fast-check";
import type { DurableValue } from "../../src/protocol/durable-value.js";

/** Keys that other implementations trip over: inherited names, look-alikes of indices and lengths, and text of any kind. */
export const KEYS = [
  ...["a", "b", "c", "id", "length", "0", "1", "10", "01", "-1", "1e3", "4294967295", "", " ", "!"],
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "toJSON", "then", "map"],
  ...['","', "\0", "a.b", "a/b", '"', "\\", "\ud800", "\udfff", "é", "e\u0301", "\u2028", "😀", "9".repeat(400)],
] as const;

const anyString = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 })
  .map((units) => String.fromCharCode(...units));

export const keyArbitrary: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom("a", "b", "c", "id"), weight: 5 },
  { arbitrary: fc.constantFrom(...KEYS), weight: 3 },
  { arbitrary: anyString, weight: 1 },
);

const primitive: fc.Arbitrary<DurableValue> = fc.oneof(
  { arbitrary: fc.integer({ min: -1, max: 3 }), weight: 4 },
  { arbitrary: fc.constantFrom(null, true, false, 0, "", "x", "length"), weight: 3 },
  { arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }), weight: 1 },
  { arbitrary: anyString, weight: 1 },
);

/** An object whose keys are all its own. `Object.fromEntries` defines them, also `__proto__`. */
function objectOf(value: fc.Arbitrary<DurableValue>): fc.Arbitrary<DurableValue> {
  return fc.array(fc.tuple(keyArbitrary, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries));
}

export const durableArbitrary: fc.Arbitrary<DurableValue> = fc.letrec<{ value: DurableValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    primitive,
    fc.array(tie("value"), { maxLength: 5 }),
    objectOf(tie("value")),
  ),
})).value;

/** A container with containers in it, as states mostly are. */
export const stateArbitrary: fc.Arbitrary<DurableValue> = fc.oneof(
  objectOf(durableArbitrary),
  fc.array(durableArbitrary, { maxLength: 6 }),
  fc.record({ a: fc.array(durableArbitrary, { maxLength: 6 }), b: objectOf(durableArbitrary), c: durableArbitrary }),
);
