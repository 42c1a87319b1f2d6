import { type Container, isContainer, isObject, MAX_DEPTH, setOwn } from "./protocol/durable-value.js";

/**
 * A deep copy of `value`: its arrays and plain objects are new, everything else in it is the same. `standIn` may answer
 * for an object instead; `undefined` leaves it to be copied. What is one object stays one, so cycles stay cycles, and
 * past the greatest depth of a durable value nothing is copied. `copies` are those made before.
 */
export function copyContainers(
  value: unknown,
  standIn: StandIn = () => undefined,
  copies: Map<object, object> = new Map(),
): unknown {
  return copyAt(0, value, standIn, copies);
}

export type StandIn = (object: object, depth: number) => object | undefined;

function copyAt(depth: number, value: unknown, standIn: StandIn, copies: Map<object, object>): unknown {
  if (!isObject(value)) return value;
  const answer = copies.get(value) ?? standIn(value, depth);
  if (answer !== undefined) {
    copies.set(value, answer);
    return answer;
  }
  if (depth > MAX_DEPTH || !isContainer(value)) return value;
  const copy = emptyLike(value);
  copies.set(value, copy);
  copyProperties(value, copy, (child) => copyAt(depth + 1, child, standIn, copies));
  return copy;
}

export function emptyLike(source: Container): Container {
  return (Array.isArray(source) ? [] : {}) as Container; // Arrays too are read and written by key here.
}

/**
 * Gives `copy` all own properties of `source`, their values as `convert` makes them. What is not durable, such as a
 * getter, a hidden property or a hole, is copied as it is and never run: encoding shall find it and say where it is.
 */
export function copyProperties(source: Container, copy: Container, convert: (value: unknown) => unknown): void {
  for (const key of Reflect.ownKeys(source)) {
    const property = Object.getOwnPropertyDescriptor(source, key);
    if (!property || (key === "length" && Array.isArray(source))) continue;
    if (property.enumerable && "value" in property) setOwn(copy, key, convert(property.value));
    else Object.defineProperty(copy, key, { ...property, configurable: true });
  }
  if (Array.isArray(source)) copy["length"] = source.length;
}
