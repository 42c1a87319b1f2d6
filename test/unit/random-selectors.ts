// oxlint-disable unicorn/no-instanceof-builtins -- views shall bear every question
/** Random selectors: lists of looks at a state, in every way in which code can look at an object. */
import * as fc from "fast-check";
import { isContainer } from "../../src/protocol/durable-value.js";
import { keyArbitrary } from "./state-arbitraries.js";

export interface Look {
  readonly name: string;
  readonly path: readonly (string | number)[];
  /** Goes on from what the look before found, instead of from the root. */
  readonly isRelative: boolean;
  readonly key: string;
  readonly index: number;
}

type Container = Record<PropertyKey, unknown>;
type Sight = (container: Container, look: Look, state: unknown) => unknown;

const onArray =
  (sight: (array: unknown[], look: Look, state: unknown) => unknown): Sight =>
  (container, look, state) =>
    Array.isArray(container) ? sight(container, look, state) : "no array";

/** An absent `__proto__` leads plain data to its prototype; in a state it is a key like any other. */
const has = (container: Container, key: string | number): boolean =>
  key === "__proto__" ? Object.hasOwn(container, key) : key in container;
const read = (container: Container, key: string | number): unknown =>
  key === "__proto__" && !has(container, key) ? undefined : container[key];

const idOf = (value: unknown): unknown => (isContainer(value) ? value["id"] : value);

const SIGHTS: Readonly<Record<string, Sight>> = {
  whole: (container) => container,
  wrapped: (container, { index }) => ({ [index]: [container], again: container }),
  presence: () => 1,
  isArray: (container) => Array.isArray(container),
  instance: (container) => container instanceof Array,
  child: (container, { key }) => read(container, key),
  element: (container, { index }) => container[index],
  length: (container) => container["length"],
  keys: (container) => Object.keys(container),
  values: (container) => Object.values(container).map((value) => typeof value),
  entries: (container) => Object.entries(container).map(([key, value]) => [key, idOf(value)]),
  names: (container) => Object.getOwnPropertyNames(container),
  in: (container, { key }) => has(container, key),
  indexIn: (container, { index }) => index in container,
  hasOwn: (container, { key }) => Object.hasOwn(container, key),
  hasOwnIndex: (container, { index }) => Object.hasOwn(container, index),
  descriptor: (container, { key }) => Object.getOwnPropertyDescriptor(container, key)?.value,
  descriptors: (container) => Object.keys(Object.getOwnPropertyDescriptors(container)),
  forIn: (container) => {
    const keys: string[] = [];
    for (const key in container) keys.push(key);
    return keys;
  },
  json: (container) => JSON.stringify(container),
  spread: (container) => ({ ...container }),
  rest: ({ a, ...rest }) => [typeof a, rest],
  destructured: ({ a, b = 7 }) => [a, b],
  assigned: (container) => has(container, "__proto__") || Object.assign({ own: 1 }, container),
  optional: (container, { key }) => idOf(read(container, key)) ?? "none",
  branch: (container, { key, index }) => (read(container, key) ? container["a"] : container[index]),
  identity: (container, { key }, state) => [state, container["a"]].includes(read(container, key)),
  elements: onArray((array) => [...array].map(idOf)),
  forOf: onArray((array) => {
    for (const [index, element] of array.entries()) if (idOf(element) === 1) return index;
    return -1;
  }),
  destructuredArray: onArray(([first, , third]) => [idOf(first), third]),
  at: onArray((array, { index }) => array.at(-index)),
  find: onArray((array, { index }) => array.find((element) => idOf(element) === index)),
  findIndex: onArray((array, { index }) => array.findIndex((element) => idOf(element) === index)),
  filter: onArray((array) => array.filter((element) => isContainer(element))),
  count: onArray((array) => array.filter((element) => idOf(element)).length),
  map: onArray((array) => array.map((element) => ({ element, id: idOf(element) }))),
  some: onArray((array, { index }) => array.some((element) => idOf(element) === index)),
  every: onArray((array) => array.every((element) => typeof element === "number")),
  includes: onArray((array, { index }) => array.includes(index)),
  indexOf: onArray((array, { index }) => array.indexOf(array[index])),
  lastIndexOf: onArray((array) => array.lastIndexOf(1)),
  slice: onArray((array, { index }) => array.slice(index - 2, index)),
  concat: onArray((array) => array.concat(array, [1])),
  flat: onArray((array) => array.flat()),
  reduce: onArray((array) =>
    array.reduce((sum: number, element) => sum + (typeof element === "number" ? element : 1), 0),
  ),
  sorted: onArray((array) => [...array].sort((a, b) => (String(idOf(a)) < String(idOf(b)) ? -1 : 1))),
  dynamic: onArray((array) => array[array.length - 2]),
};

const lookArbitrary: fc.Arbitrary<Look> = fc.record({
  name: fc.constantFrom(...Object.keys(SIGHTS)),
  path: fc.array(fc.oneof(keyArbitrary, fc.nat({ max: 3 })), { maxLength: 3 }),
  isRelative: fc.boolean(),
  key: keyArbitrary,
  index: fc.nat({ max: 5 }),
});

export const looksArbitrary: fc.Arbitrary<Look[]> = fc.array(lookArbitrary, { minLength: 1, maxLength: 3 });

/** What the looks see, one after the other; what throws counts as seen, too. */
export function runLooks(looks: readonly Look[], state: unknown): unknown[] {
  let last: unknown = state;
  return looks.map((look) => {
    try {
      let found = look.isRelative ? last : state;
      for (const segment of look.path) if (isContainer(found)) found = read(found, segment);
      last = isContainer(found) ? SIGHTS[look.name]?.(found, look, state) : found;
    } catch (error) {
      last = (error as Error).name;
    }
    return last;
  });
}
