/// <reference lib="esnext.disposable" preserve="true" />
/** Stores without a browser: for unit tests of code that is given stores. */
import type { Logger } from "../logger.js";
import { createStores, type Stores } from "../stores.js";
import { type ManualClock, manualClock } from "./manual-clock.js";
import { openMemoryDatabase } from "./memory-connector.js";

export interface TestStoresOptions {
  /** Default: a clock of its own. Pass one to share it with other code under test. */
  readonly clock?: ManualClock;
  /** How many changes the change feed keeps; default: all. */
  readonly changesLimit?: number;
  readonly logger?: Logger;
}

export interface TestStores {
  /** What `openStores` would have resolved with. */
  readonly stores: Stores;
  /** Deadlines and sweeps go by this clock, which stands still until it is moved. */
  readonly clock: ManualClock;
  /** Another client of the same database, as another tab has it. */
  readonly openTab: () => Stores;
  /** Another owner takes over: every client hears of it and goes on. */
  readonly changeOwner: () => void;
  /** Closes every client: what waits ends with ClosedError, and no timer is left on the clock. Idempotent. */
  readonly close: () => Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens a database in memory that keeps the contract of stores and needs no browser: no worker, no SQLite, no OPFS.
 * Each call opens another database, so that tests share nothing. Losing tabs and owners for real takes a browser.
 *
 * @example
 * const { stores, clock, close } = openTestStores();
 * const inbox = stores.store(Inbox, "alice");
 * const wait = inbox.when((state) => state.messages.length > 0, { deadline: clock.now() + 60_000 });
 * clock.advance(60_000);
 * console.log((await wait).status); // "timed-out"
 * await close();
 */
export function openTestStores(options: TestStoresOptions = {}): TestStores {
  const { clock = manualClock(), changesLimit, logger } = options;
  const database = openMemoryDatabase({ clock, ...(changesLimit === undefined ? {} : { changesLimit }) });
  const tabs: Stores[] = [];
  const openTab = (): Stores => {
    const tab = createStores(database.connect(), { clock, logger });
    tabs.push(tab);
    return tab;
  };
  const close = async (): Promise<void> => {
    await Promise.all(tabs.map((tab) => tab.close()));
    await database.close();
  };
  return {
    stores: openTab(),
    clock,
    openTab,
    changeOwner: () => database.restart(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
