/** From what callbacks made of a state to the operation that writes it. */
import { v7 as newInstanceId } from "uuid";
import { checkDefinition } from "./check-arguments.js";
import type { Base } from "./commit-loop.js";
import type { StoreDefinition } from "./define-store.js";
import type { StoreKey } from "./protocol/change.js";
import type { StepRecord } from "./protocol/connector.js";
import { checkIdentifier } from "./protocol/limits.js";
import { encodePaths, type StorePath } from "./protocol/path.js";
import { initialState, readState, type Revision, writeState, type WrittenState } from "./stored-state.js";
import type { Write } from "./store-view.js";

const ROOT: readonly StorePath[] = [[]];

/** A store's address where the type of its state does not matter. */
export interface AnyAddress {
  readonly definition: Pick<StoreDefinition<unknown>, "name" | "version">;
  readonly id: string;
}

/** @throws InvalidArgumentError when the definition is none, or the id cannot be one */
export function storeOf(address: AnyAddress): StoreKey & { readonly definitionVersion: number } {
  const { definition, id } = address ?? {};
  checkDefinition(definition);
  checkIdentifier("store id", id);
  return { storeName: definition.name, storeId: id, definitionVersion: definition.version };
}

/** Which version a write makes, of which instance. Known before it is sent, so that a receipt can hold it. */
export interface NextVersion {
  readonly instanceId: string;
  /** 0 for a store that is created by this write. */
  readonly previousVersion: number;
  readonly version: number;
}

/** The version that follows `base`: an update of a missing store commits straight to version 1. */
export function nextVersion({ snapshot }: Base): NextVersion {
  return snapshot === null
    ? { instanceId: newInstanceId(), previousVersion: 0, version: 1 }
    : { instanceId: snapshot.instanceId, previousVersion: snapshot.version, version: snapshot.version + 1 };
}

/** The state that callbacks run on: the stored one, or that of a store to be created. Private. */
export async function baseState<State>(definition: StoreDefinition<State>, { snapshot, entry }: Base): Promise<State> {
  return snapshot === null ? initialState(definition, entry.key.storeId) : readState(definition, snapshot);
}

/** Validates and encodes what callbacks made. */
export async function writtenState<State>(
  definition: StoreDefinition<State>,
  base: State,
  revision: Omit<Revision, "base">,
): Promise<WrittenState> {
  return writeState(definition, { ...revision, base });
}

/** The operation that writes `written` as the version that follows `base`. */
export function writeOf(
  definition: { readonly version: number },
  { entry, snapshot }: Base,
  { instanceId, version }: NextVersion,
  written: WrittenState,
  step: { readonly step?: StepRecord } = {},
): Write {
  const { canonical: state, largeBytes } = written;
  const definitionVersion = definition.version;
  // Nothing of a new instance was there before, and a migration may have moved anything.
  const isNew = snapshot === null || snapshot.definitionVersion !== definitionVersion;
  const changedPaths = isNew ? ROOT : written.changedPaths;
  const common = { ...entry.key, definitionVersion, state, changedPaths: encodePaths(changedPaths), ...step };
  return {
    entry,
    changedPaths,
    after: { instanceId, version, definitionVersion, state },
    operation:
      snapshot === null
        ? { type: "create", instanceId, version: version === 0 ? 0 : 1, ...common }
        : { type: "replace", expected: { instanceId, version: snapshot.version }, ...common },
    ...(largeBytes === undefined ? {} : { largeBytes }),
  };
}

/** Creates a missing store as it initially is, at version 0. */
export async function creationOf<State>(definition: StoreDefinition<State>, base: Base): Promise<Write> {
  const state = initialState(definition, base.entry.key.storeId);
  const written = await writeState(definition, { base: state, next: state, changedPaths: ROOT });
  return writeOf(definition, base, { instanceId: newInstanceId(), previousVersion: 0, version: 0 }, written);
}
