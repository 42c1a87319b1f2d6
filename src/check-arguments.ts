/** Checks of what an app passes in: each throws InvalidArgumentError, which says what to pass instead. */
import type { StoreDefinition } from "./define-store.js";
import { InvalidArgumentError } from "./protocol/errors.js";

export function checkFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new InvalidArgumentError(`The ${what} must be a function, but it is ${nameOf(value)}.`);
}

export function checkDefinition<State>(definition: Pick<StoreDefinition<State>, "name" | "version">): void {
  // The cast: what comes from JavaScript may be anything.
  const { name, version, initial } = (definition ?? {}) as Partial<StoreDefinition<State>>;
  if (typeof name === "string" && typeof version === "number" && typeof initial === "function") return;
  throw new InvalidArgumentError("The definition is none: pass what `defineStore` returned.");
}

/** @param deadline epoch milliseconds; Infinity never comes */
export function checkDeadline(deadline: number | undefined): void {
  if (deadline === undefined || (typeof deadline === "number" && !Number.isNaN(deadline))) return;
  throw new InvalidArgumentError(
    `The deadline must be a number of milliseconds since 1970, such as Date.now() + 5000, but it is ${nameOf(deadline)}.`,
  );
}

function nameOf(value: unknown): string {
  return value === null || value !== value ? String(value) : `a value of type ${typeof value}`;
}
