// oxlint-disable unicorn/no-array-reverse, typescript/require-array-sort-compare -- drafts shall bear every method
/**
 * Random updaters: programs of steps that can run on a draft and, as a model of what should come out, on a plain copy of
 * the state. The steps move and alias parts, and use every method by which an array can be changed.
 */
import * as fc from "fast-check";
import { type DurableValue, isContainer, setOwn } from "../../src/protocol/durable-value.js";
import { durableArbitrary, keyArbitrary } from "./state-arbitraries.js";

type Container = Record<PropertyKey, unknown>;

export interface Step {
  readonly name: string;
  /** Chooses a container to work on. */
  readonly at: readonly number[];
  /** Chooses a second one, for what is moved or aliased. */
  readonly from: readonly number[];
  readonly key: string;
  readonly numbers: readonly [number, number, number];
  readonly value: DurableValue;
}

type Action = (step: Step, target: Container, source: unknown, put: Put) => void;
type Put = (target: Container, key: string, value: unknown) => void;

const onArray =
  (action: (array: unknown[], step: Step, source: unknown) => void): Action =>
  (step, target, source) => {
    if (Array.isArray(target)) action(target, step, source);
  };

/** What a caller assigns: an object of its own, used a second time by `alias`. */
const fresh = (value: DurableValue): unknown => structuredClone(value);

const ACTIONS: Readonly<Record<string, Action>> = {
  set: ({ key, value, numbers }, target, _source, put) =>
    Array.isArray(target)
      ? put(target as never, String(numbers[0] % (target.length + 1)), fresh(value))
      : put(target, key, fresh(value)),
  delete: ({ key }, target) => {
    delete target[key];
  },
  deletePresent: ({ numbers }, target) => {
    delete target[Object.keys(target)[numbers[0]] ?? ""];
  },
  define: ({ key, value }, target) => {
    const property = { value: fresh(value), writable: true, enumerable: true, configurable: true };
    if (!Array.isArray(target)) Object.defineProperty(target, key, property);
  },
  redefine: ({ numbers, value }, target) => {
    const key = Object.keys(target)[numbers[0]];
    if (key !== undefined) Object.defineProperty(target, key, { value: fresh(value) });
  },
  assign: ({ value }, target) => {
    if (isContainer(value) && !Object.hasOwn(value, "__proto__")) Object.assign(target, fresh(value));
  },
  alias: ({ key, numbers }, target, source, put) => {
    if (Array.isArray(target)) target[numbers[0] % (target.length + 1)] = source;
    else put(target, key, source);
  },
  aliasFresh: ({ key, numbers, value }, target, _source, put) => {
    const own = fresh(value);
    put(target, Array.isArray(target) ? "0" : key, own);
    put(target, Array.isArray(target) ? "1" : "b", own);
    const written = target[Array.isArray(target) ? "0" : key];
    if (isContainer(written)) put(written, Array.isArray(written) ? "0" : "id", numbers[1]);
  },
  editAfterAssigning: ({ key, value }, target, _source, put) => {
    const own = [fresh(value)];
    put(target, Array.isArray(target) ? "0" : key, own);
    own.push(1);
  },
  swap: ({ numbers }, target, _source, put) => {
    const keys = Object.keys(target);
    const [first, second] = [keys[numbers[0] % keys.length], keys[numbers[1] % keys.length]];
    if (first === undefined || second === undefined) return;
    const held = target[first];
    put(target, first, target[second]);
    put(target, second, held);
  },
  push: onArray((array, { value }) => array.push(fresh(value), 1)),
  pushAlias: onArray((array, _step, source) => array.push(source)),
  pop: onArray((array) => array.pop()),
  shift: onArray((array) => array.shift()),
  unshift: onArray((array, { value }) => array.unshift(fresh(value))),
  unshiftAlias: onArray((array, _step, source) => array.unshift(source)),
  splice: onArray((array, { numbers: [start, count], value }) => array.splice(start, count, fresh(value))),
  remove: onArray((array, { numbers: [start, count] }) => array.splice(start, count)),
  rotate: onArray((array, { numbers: [start, count] }) => array.push(...array.splice(start, count))),
  sort: onArray((array) => array.sort()),
  sortBy: onArray((array) => array.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? 1 : -1))),
  reverse: onArray((array) => array.reverse()),
  fill: onArray((array, { numbers: [from, to], value }) => array.fill(fresh(value), from, to)),
  fillAlias: onArray((array, { numbers: [from, to] }, source) => array.fill(source, from, to)),
  copyWithin: onArray((array, { numbers: [target, from, to] }) => array.copyWithin(target, from, to)),
  truncate: onArray((array, { numbers: [length] }) => {
    array.length = Math.min(array.length, length);
  }),
  extend: onArray((array, { numbers: [length] }) => {
    array.length += length % 2;
  }),
  replaceFiltered: ({ numbers: [nth] }, target, _source, put) => {
    const key = Object.keys(target).find((name) => Array.isArray(target[name]));
    if (key === undefined) return;
    put(
      target,
      key,
      (target[key] as unknown[]).filter((_, index) => index !== nth),
    );
  },
};

const picks = fc.array(fc.nat({ max: 5 }), { maxLength: 4 });

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom(...Object.keys(ACTIONS)),
  at: picks,
  from: picks,
  key: keyArbitrary,
  numbers: fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 }), fc.nat({ max: 5 })),
  value: durableArbitrary,
});

export const stepsArbitrary: fc.Arbitrary<Step[]> = fc.array(stepArbitrary, { minLength: 1, maxLength: 5 });

/** Runs the steps on a draft, or on plain data, where assigning to `__proto__` would not make a property. */
export function runSteps(steps: readonly Step[], root: unknown, isPlain: boolean): void {
  const put: Put = isPlain
    ? setOwn
    : (target, key, value) => {
        target[key] = value;
      };
  for (const step of steps) {
    const target = containerAt(root, step.at);
    if (isContainer(target)) ACTIONS[step.name]?.(step, target, containerAt(root, step.from), put);
  }
}

/** Walks down as long as the picks choose a container, at each level one of those that are there. */
function containerAt(root: unknown, path: readonly number[]): unknown {
  let container = root;
  for (const pick of path) {
    if (!isContainer(container)) break;
    const { [pick % (Object.keys(container).length + 1)]: key } = Object.keys(container);
    if (key === undefined || !isContainer(container[key])) break;
    container = container[key];
  }
  return container;
}
