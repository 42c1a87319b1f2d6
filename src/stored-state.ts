/**
 * Between states and their stored text: what is read passes migration, what is written passes the schema.
 *
 * The decoded state of a snapshot is kept by the snapshot's identity and shared by drafts and selectors, which copy what
 * they hand out; nothing else may hand it out.
 */
import type { StoreDefinition } from "./define-store.js";
import { diffPaths } from "./diff.js";
import type { StoredSnapshot } from "./protocol/connector.js";
import { decodeDurable, encodeDurable } from "./protocol/durable-value.js";
import {
  DefinitionOutdatedError,
  InvalidArgumentError,
  MigrationFailedError,
  StorageDamagedError,
  ValueNotDurableError,
} from "./protocol/errors.js";
import { LARGE_STATE_BYTES, MAX_STATE_BYTES, utf8Length } from "./protocol/limits.js";
import type { StorePath } from "./protocol/path.js";
import { refuseThenable } from "./refuse-thenable.js";
import { validate } from "./standard-schema.js";

interface Reading {
  readonly definition: unknown;
  readonly state: unknown;
}

const readings = new WeakMap<StoredSnapshot, Reading>();

/** The state of a snapshot if it is at hand without waiting: of the running version, or read before. */
export function peekState<State>(definition: StoreDefinition<State>, stored: StoredSnapshot): State | undefined {
  const reading = readings.get(stored);
  // The casts here and below: what the schema accepted, now or when it was written, is a `State`.
  if (reading?.definition === definition) return reading.state as State;
  if (stored.definitionVersion !== definition.version) return undefined;
  return keep(definition, stored, decode(definition, stored)) as State;
}

/**
 * The state of a snapshot, brought up to the running definition. A promise only where a migrated state has to pass an
 * asynchronous schema.
 *
 * @throws DefinitionOutdatedError, MigrationFailedError, StorageDamagedError
 */
export function readState<State>(definition: StoreDefinition<State>, stored: StoredSnapshot): State | Promise<State> {
  const state = peekState(definition, stored);
  return state === undefined ? migrate(definition, stored) : state;
}

function keep<State>(definition: unknown, stored: StoredSnapshot, state: State): State {
  readings.set(stored, { definition, state });
  return state;
}

function decode(definition: { readonly name: string }, stored: StoredSnapshot): unknown {
  const decoded = decodeDurable(stored.state);
  if (decoded.status === "decoded") return decoded.value;
  throw new StorageDamagedError(`A stored state of "${definition.name}" cannot be read. ${decoded.message}`);
}

function migrate<State>(definition: StoreDefinition<State>, stored: StoredSnapshot): State | Promise<State> {
  const { name, version } = definition;
  const from = stored.definitionVersion;
  if (from > version) throw outdated(name, from, version);
  const fail = (problem: string, cause?: unknown): never => {
    throw new MigrationFailedError(
      `A state of "${name}" that version ${from} of its definition wrote cannot be brought to version ${version}: ${problem} It stays as it is.`,
      { storeName: name, from, version },
      cause === undefined ? {} : { cause },
    );
  };
  const finish = (state: State): State => {
    const encoded = encodeDurable(state);
    if (encoded.status === "invalid") return fail(`${encoded.message} (at ${place(encoded.path)})`);
    const own: State = JSON.parse(encoded.canonical);
    return keep(definition, stored, own);
  };
  if (definition.migrate === undefined) return fail("it has no `migrate`: add one.");
  try {
    const migrated = definition.migrate(decode(definition, stored), from);
    const valid = validate(definition.schema, migrated, name);
    return valid instanceof Promise
      ? valid.then(finish, (error: unknown) => fail("the schema refused it.", error))
      : finish(valid);
  } catch (error) {
    if (error instanceof MigrationFailedError || error instanceof StorageDamagedError) throw error;
    return fail("`migrate` or the schema refused it.", error);
  }
}

/** The error for a row that a newer definition wrote. */
export function outdated(storeName: string, storedVersion: number, version: number): DefinitionOutdatedError {
  return new DefinitionOutdatedError(
    `A state of "${storeName}" was written by version ${storedVersion} of its definition, and this code has version ${version}: reload the app. The state stays as it is.`,
    { storeName, storedVersion, version },
  );
}

/** The first state of a store, as its definition makes it; not validated yet. */
export function initialState<State>(definition: StoreDefinition<State>, id: string): State {
  const state = definition.initial(id);
  refuseThenable(state, "initial");
  // A copy: what `initial` returned may be an object that the app goes on editing.
  const own: State = JSON.parse(encodeValue(state, `The initial state of "${definition.name}"`));
  return own;
}

export interface WrittenState {
  readonly canonical: string;
  readonly changedPaths: readonly StorePath[];
  /** Of UTF-8, if the state is large enough to be warned of. */
  readonly largeBytes?: number;
}

/** What a callback made of a state. */
export interface Revision {
  readonly base: unknown;
  readonly next: unknown;
  readonly changedPaths: readonly StorePath[];
}

/**
 * Validates what a callback made and encodes the very value that the schema put out. What the schema changed counts as
 * changed.
 *
 * @throws ValidationFailedError, ValueNotDurableError, InvalidArgumentError when it is too large
 */
export function writeState<State>(
  definition: StoreDefinition<State>,
  { base, next, changedPaths }: Revision,
): WrittenState | Promise<WrittenState> {
  const encode = (output: State): WrittenState => {
    const canonical = encodeValue(output, `The state of "${definition.name}"`);
    const paths = output === next ? changedPaths : diffPaths(base, output);
    const bytes = canonical.length * 3 > LARGE_STATE_BYTES ? utf8Length(canonical) : 0;
    if (bytes > MAX_STATE_BYTES) {
      throw new InvalidArgumentError(
        `The state of "${definition.name}" has ${bytes} bytes, and at most ${MAX_STATE_BYTES} are allowed: split it into several stores.`,
        { bytes, limit: MAX_STATE_BYTES },
      );
    }
    return { canonical, changedPaths: paths, ...(bytes > LARGE_STATE_BYTES ? { largeBytes: bytes } : {}) };
  };
  const output = validate(definition.schema, next, definition.name);
  return output instanceof Promise ? output.then(encode) : encode(output);
}

/** @throws ValueNotDurableError with the path of what cannot be stored */
export function encodeValue(value: unknown, what: string): string {
  const encoded = encodeDurable(value);
  if (encoded.status === "encoded") return encoded.canonical;
  const { path, message } = encoded;
  throw new ValueNotDurableError(`${what} cannot be stored, and nothing was written: ${place(path)}: ${message}`, {
    path,
  });
}

function place(path: StorePath): string {
  return path.length === 0 ? "the root" : path.join(".");
}
