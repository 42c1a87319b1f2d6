/**
 * What this tab is waiting for, with the paths its selectors read.
 *
 * Owns the list that is shown. Does not own the waits: they are the library's, and go on across owners.
 */
import type { Selector, StoreHandle, StorePath, Stores } from "wakeful";

export interface Wait {
  /** The call: "take", "when". */
  readonly call: string;
  /** What for, in words. */
  readonly purpose: string;
  readonly storeName: string;
  readonly storeId: string;
  /** Null until known. */
  readPaths: readonly StorePath[] | null;
}

/** Milliseconds: a wait that is over sooner is not worth a look. */
const WORTH_LOOKING_AT = 250;

export class Waits {
  readonly #waits = new Set<Wait>();
  readonly #stores: Stores;
  readonly #onChange: () => void;

  constructor(stores: Stores, onChange: () => void) {
    this.#stores = stores;
    this.#onChange = onChange;
  }

  get all(): readonly Wait[] {
    return [...this.#waits];
  }

  /** Shows a wait for as long as `waiting` is pending. */
  async show<State, R, T>(
    call: string,
    purpose: string,
    store: StoreHandle<State>,
    selector: Selector<State, R>,
    waiting: Promise<T>,
  ): Promise<T> {
    const wait: Wait = { call, purpose, storeName: store.definition.name, storeId: store.id, readPaths: null };
    const timer = setTimeout(() => void this.#lookAt(wait, store, selector), WORTH_LOOKING_AT);
    this.#waits.add(wait);
    this.#onChange();
    try {
      return await waiting;
    } finally {
      clearTimeout(timer);
      this.#waits.delete(wait);
      this.#onChange();
    }
  }

  // A miss of `takeFromStore` tells what its selector read. A match must claim nothing here, so it throws, which
  // changes nothing.
  async #lookAt<State, R>(
    wait: Wait,
    { definition, id }: StoreHandle<State>,
    selector: Selector<State, R>,
  ): Promise<void> {
    try {
      const claim = (): never => {
        throw new OnlyLooking();
      };
      const outcome = await this.#stores.takeFromStore({ definition, id, selector, claim });
      if (!outcome.matched) wait.readPaths = outcome.readPaths;
      this.#onChange();
    } catch {
      // It matches by now, or cannot be read: the wait itself says so.
    }
  }
}

class OnlyLooking extends Error {}
