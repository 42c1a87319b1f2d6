/**
 * Durable values: what a state may consist of, so that it comes back from storage as it went in.
 *
 * Durable are `null`, booleans, finite numbers, strings, dense arrays and plain objects with enumerable string-keyed
 * data properties, at most 500 levels deep. Equal values have one canonical text: JSON with the keys of every object
 * sorted by UTF-16 code unit and `-0` written as `0`.
 */
import type { Segment, StorePath } from "./path.js";

export type DurableValue =
  | null
  | boolean
  | number
  | string
  | readonly DurableValue[]
  | { readonly [key: string]: DurableValue };

/** Containers inside one another, the outermost counted. */
export const MAX_DEPTH = 500;

/**
 * The canonical text of `value`, or where and why it is not durable. Never throws, never runs a getter, and reads
 * through drafts. An object that is referred to from several places is written at each; only a real cycle is invalid.
 *
 * @example
 * encodeDurable({ b: 1, a: -0 }); // { status: "encoded", canonical: '{"a":0,"b":1}' }
 * encodeDurable({ at: [new Date()] }); // { status: "invalid", path: ["at", 0], message: "…" }
 */
export function encodeDurable(
  value: unknown,
): { status: "encoded"; canonical: string } | { status: "invalid"; path: StorePath; message: string } {
  const encoder = new Encoder();
  try {
    return { status: "encoded", canonical: encoder.write(encoder.order(value)) };
  } catch (error) {
    // Not only the encoder throws: a proxy's traps can, and so does a text longer than a string can be.
    return {
      status: "invalid",
      path: encoder.path,
      message: error instanceof Error ? error.message : "Reading it threw.",
    };
  }
}

/** An object or array whose properties are read and written by key, whatever they hold. */
export type Container = Record<PropertyKey, unknown>;

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether `value` is an array or a plain object, and so is made of what it holds. A subclass's instance is neither. */
export function isContainer(value: unknown): value is Container {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) ? prototype === Array.prototype : prototype === Object.prototype || prototype === null;
}

/** The keys of an object as it lists them and in canonical order, and whether an object can list them in that order. */
interface Shape {
  readonly keys: readonly string[];
  readonly ordered: readonly string[];
  readonly listable: boolean;
}

/**
 * Checks a value while copying it with its keys in canonical order, and leaves the writing to `JSON.stringify`, which is
 * several times as fast as joining text here. What is written is thereby what was checked, also when a proxy would
 * answer otherwise the second time.
 */
class Encoder {
  /** The way to where the walk stands; where it stopped, once something was thrown. */
  readonly path: Segment[] = [];
  readonly #ancestors: object[] = [];
  /** The last shape at each depth: the entries of a list mostly look alike. */
  readonly #shapes: Shape[] = [];
  /** Copies of objects that list integer-like keys before lesser ones, and all that holds such a copy. */
  readonly #unlistable = new Set<unknown>();

  order(value: unknown): unknown {
    if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value !== "object") throw new Error(describe(value));
    if (this.#ancestors.includes(value)) throw new Error("A cycle cannot be stored: this object holds itself.");
    if (this.#ancestors.length === MAX_DEPTH) throw new Error(`More than ${MAX_DEPTH} levels cannot be stored.`);
    if (!isContainer(value)) {
      throw new Error(`An instance of ${classNameOf(value)} cannot be stored: store plain data.`);
    }
    this.#ancestors.push(value);
    const copy = Array.isArray(value) ? this.#orderArray(value) : this.#orderObject(value);
    this.#ancestors.pop();
    if (Object.getOwnPropertySymbols(value).length > 0) throw new Error("A symbol cannot be stored as a key.");
    return copy;
  }

  #orderArray(array: readonly unknown[]): unknown[] {
    const copy: unknown[] = [];
    for (let index = 0; index < array.length; index++) copy.push(this.#orderProperty(array, index, copy));
    // The elements come first, then `length`, then what should not be there.
    const extra = Object.getOwnPropertyNames(array)[copy.length + 1];
    if (extra === undefined) return copy;
    this.path.push(extra);
    throw new Error("An array cannot be stored with properties beside its elements.");
  }

  #orderObject(object: object): Container {
    const copy: Container = {};
    const { ordered, listable } = this.#shapeOf(Object.getOwnPropertyNames(object));
    for (const key of ordered) setOwn(copy, key, this.#orderProperty(object, key, copy));
    if (!listable) this.#unlistable.add(copy);
    return copy;
  }

  #orderProperty(container: object, key: Segment, copy: object): unknown {
    this.path.push(key);
    const property = Object.getOwnPropertyDescriptor(container, key);
    if (!property) throw new Error("A hole in an array cannot be stored.");
    if (property.get || property.set) throw new Error("A getter or setter cannot be stored: store its value.");
    if (!property.enumerable) throw new Error("A property that is not enumerable cannot be stored.");
    const ordered = this.order(property.value);
    this.path.pop();
    if (this.#unlistable.size > 0 && this.#unlistable.has(ordered)) this.#unlistable.add(copy);
    return ordered;
  }

  #shapeOf(keys: readonly string[]): Shape {
    const depth = this.path.length;
    const last = this.#shapes[depth];
    if (last?.keys.length === keys.length && keys.every((key, index) => key === last.keys[index])) return last;
    const ordered = [...keys].sort();
    const listable = !ordered.some(startsWithDigit) || isListed(ordered);
    return (this.#shapes[depth] = { keys, ordered, listable });
  }

  /** The text of what `order` returned. */
  write(ordered: unknown): string {
    if (!this.#unlistable.has(ordered)) return JSON.stringify(ordered);
    if (Array.isArray(ordered)) return `[${ordered.map((element) => this.write(element)).join(",")}]`;
    const object = ordered as Container; // Only copies of arrays and objects are unlistable.
    const keys = Object.keys(object).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${this.write(object[key])}`).join(",")}}`;
  }
}

function startsWithDigit(key: string): boolean {
  return key >= "0" && key < ":";
}

/** Whether an object lists `keys` in this order. */
function isListed(keys: readonly string[]): boolean {
  return Object.keys(Object.fromEntries(keys.map((key) => [key, 0]))).every((key, index) => key === keys[index]);
}

/** Sets a property of `object` itself. Assigning to `__proto__` would change the prototype instead. */
export function setOwn(object: Container, key: PropertyKey, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

function describe(value: unknown): string {
  if (value === undefined) return "undefined cannot be stored: leave the key out, or store null.";
  if (typeof value === "number") return `${value} cannot be stored: JSON has finite numbers only.`;
  return `A ${typeof value} cannot be stored.`;
}

/** Asks data properties only, since a getter must not run. */
function classNameOf(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  const constructor = isObject(prototype) ? ownData(prototype, "constructor") : undefined;
  const name = typeof constructor === "function" ? ownData(constructor, "name") : undefined;
  return typeof name === "string" && name !== "" ? name : "a class";
}

function ownData(object: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}

/** Reads any JSON text whose value is durable, canonical or not. `__proto__` becomes a property like any other. */
export function decodeDurable(
  text: string,
): { status: "decoded"; value: DurableValue } | { status: "invalid"; message: string } {
  try {
    const value: unknown = JSON.parse(text);
    const fault = faultOf(value, 0);
    // The cast: JSON cannot express anything else that is not durable.
    return fault === undefined
      ? { status: "decoded", value: value as DurableValue }
      : { status: "invalid", message: fault };
  } catch (error) {
    return { status: "invalid", message: `The text is not JSON: ${String(error)}` };
  }
}

function faultOf(value: unknown, depth: number): string | undefined {
  if (!isObject(value)) {
    return value === Infinity || value === -Infinity ? "A number is too large." : undefined;
  }
  if (depth === MAX_DEPTH) return `The value is nested deeper than ${MAX_DEPTH} levels.`;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    const fault = faultOf(child, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Whether two values have the same canonical text, without writing it. What is not durable equals itself alone.
 */
export function durableEquals(a: unknown, b: unknown): boolean {
  return equalsAt(0, a, b);
}

function equalsAt(depth: number, a: unknown, b: unknown): boolean {
  if (a === b || Object.is(a, b)) return true;
  // Past the greatest depth nothing is durable; stopping there also ends the walk through a cycle.
  if (!isContainer(a) || !isContainer(b) || depth === MAX_DEPTH) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b)) return false;
    return a.length === b.length && a.every((element, index) => equalsAt(depth + 1, element, b[index]));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equalsAt(depth + 1, a[key], b[key]));
}

/** A copy of a durable value that shares nothing with it. */
export function cloneDurable<Value>(value: Value): Value {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map(cloneDurable) as Value; // Mapping keeps the shape.
  // Spread makes every key an own property of the copy, `__proto__` too, so that assigning to it is harmless.
  const copy: Container = { ...(value as Container) };
  for (const key of Object.keys(copy)) {
    const child = copy[key];
    if (typeof child === "object") copy[key] = cloneDurable(child);
  }
  return copy as Value; // The same keys with the same values.
}
