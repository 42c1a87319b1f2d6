/** States as callers get them: their own copies, made when they are looked at. */
import type { StoreDefinition } from "./define-store.js";
import type { DeepReadonly } from "./durable-type.js";
import type { StoredSnapshot } from "./protocol/connector.js";
import { cloneDurable } from "./protocol/durable-value.js";
import { readState } from "./stored-state.js";
import type { ObservedSnapshot, StoreSnapshot } from "./store-client.js";

/** `facts` with a `state` that is made when it is first read, since many callers only want the version. */
export function withState<State, Facts extends object>(
  make: () => State,
  facts: Facts,
): { state: DeepReadonly<State> } & Facts {
  let made: { state: DeepReadonly<State> } | undefined;
  return {
    get state(): DeepReadonly<State> {
      made ??= { state: make() as DeepReadonly<State> }; // The same value, seen as read-only.
      return made.state;
    },
    set state(state: DeepReadonly<State>) {
      made = { state };
    },
    ...facts,
  };
}

/** `state` must be private, and stay as it is. */
export function observedSnapshot<State>(state: State, stored: StoredSnapshot | null): ObservedSnapshot<State> {
  const copy = (): State => cloneDurable(state);
  if (stored === null) return withState(copy, { instanceId: null, version: null });
  const { instanceId, version } = stored;
  return withState(copy, { instanceId, version });
}

/** A snapshot as its reader gets it, migrated if need be. */
export async function snapshotOf<State>(
  definition: StoreDefinition<State>,
  stored: StoredSnapshot,
): Promise<StoreSnapshot<State>> {
  const state: State = await readState(definition, stored);
  const { instanceId, version } = stored;
  return withState(() => cloneDurable(state), { instanceId, version });
}
