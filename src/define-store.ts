/** A store's definition: its name, its schema, its initial state, and how older states are brought up to date. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { DeepReadonly, NotDurable } from "./durable-type.js";
import { InvalidArgumentError } from "./protocol/errors.js";
import { checkIdentifier } from "./protocol/limits.js";

/** What `defineStore` makes. `State` is the output of the schema. */
export interface StoreDefinition<State> {
  readonly name: string;
  readonly schema: StandardSchemaV1<unknown, State>;
  /** Runs only when a store is missing; must be synchronous. */
  readonly initial: (id: string) => DeepReadonly<State>;
  /** Ascending from 1. */
  readonly version: number;
  readonly migrate?: (state: unknown, fromVersion: number) => unknown;
}

export interface StoreOptions<State> {
  /** The state of a store to which nothing was committed yet. Called outside of any transaction. */
  readonly initial: (id: string) => DeepReadonly<State>;
  /** Raise it whenever states that were stored before no longer satisfy the schema. Default 1. */
  readonly version?: number;
  /** Brings a state of an older version up to this one. Its result goes through the schema. */
  readonly migrate?: (state: unknown, fromVersion: number) => unknown;
}

/** `unknown` for a schema whose output can be stored; otherwise a type that no schema has, which says why. */
export type DurableSchema<Schema extends StandardSchemaV1> = [
  NotDurable<StandardSchemaV1.InferOutput<Schema>>,
] extends [never]
  ? unknown
  : { readonly "cannot be stored": NotDurable<StandardSchemaV1.InferOutput<Schema>> };

/**
 * Defines a kind of store.
 *
 * The schema's output is the type of the state, and what is stored. A schema whose output it would change again the
 * next time (a default that counts up, a trim that is a toggle) changes the state with every commit: avoid it.
 * Nor may a schema change its input in place: it is given parts of the state before, which are shared.
 *
 * @param name identifies the stores in the database: keep it when you rename the variable
 * @param schema any Standard Schema, such as those of Zod, Valibot and ArkType; its output must be durable JSON
 * @throws InvalidArgumentError when an argument is of the wrong shape
 *
 * @example
 * const Inbox = defineStore("inbox", z.object({ messages: z.array(z.string()) }), {
 *   initial: () => ({ messages: [] }),
 * });
 */
export function defineStore<const Schema extends StandardSchemaV1>(
  name: string,
  schema: Schema & DurableSchema<Schema>,
  options: StoreOptions<NoInfer<StandardSchemaV1.InferOutput<Schema>>>,
): StoreDefinition<StandardSchemaV1.InferOutput<Schema>> {
  checkIdentifier("name of a store definition", name);
  if (typeof (schema as Partial<StandardSchemaV1> | undefined)?.["~standard"]?.validate !== "function") {
    throw new InvalidArgumentError(
      `The schema of "${name}" is no Standard Schema: pass one of Zod, Valibot, ArkType or another library that implements it.`,
    );
  }
  const { initial, version = 1, migrate } = options ?? {};
  if (typeof initial !== "function") {
    throw new InvalidArgumentError(`The store "${name}" needs \`initial\`: a function that returns its first state.`);
  }
  if (!Number.isSafeInteger(version) || version < 1) {
    throw new InvalidArgumentError(`The version of "${name}" must be an integer from 1, but it is ${String(version)}.`);
  }
  if (migrate !== undefined && typeof migrate !== "function") {
    throw new InvalidArgumentError(`\`migrate\` of "${name}" must be a function.`);
  }
  return Object.freeze({
    name,
    schema,
    initial,
    version,
    ...(migrate === undefined ? {} : { migrate }),
  });
}
