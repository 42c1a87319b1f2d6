/**
 * The composition root: a connection to the database's owner, and a client over it.
 *
 * Owns: the connections of this page, one per database name, counted by who opened them. Does not own: what a
 * connection does (connection/), nor what a client does (stores.ts).
 *
 * R1  A page has one connection per name, however often it opens it; the last to close it ends it.
 * R2  Who opens while the connection is being closed waits for that, and then gets a new one: there are never two.
 */
import { openConnection, type WorkerConnector } from "./connection/open-connection.js";
import type { Logger } from "./logger.js";
import type { StoreConnector } from "./protocol/connector.js";
import { InvalidArgumentError } from "./protocol/errors.js";
import type { Durability } from "./protocol/events.js";
import { checkIdentifier } from "./protocol/limits.js";
import { createStores, type Stores } from "./stores.js";
import { WakeClaims } from "./wakes.js";

export interface OpenStoresOptions {
  /** Names the database within the origin. */
  readonly name: string;
  /** Default "strict": an acknowledged commit has been flushed. The stricter of all that tabs ask for holds. */
  readonly durability?: Durability;
  /** Where OPFS is unsupported or blocked, keep the data in memory, and lose it with the last tab. Default: reject. */
  readonly fallback?: "memory";
  /** Asks the browser not to evict this origin's data. */
  readonly persist?: boolean;
  /** Milliseconds a call waits for an owner that does not answer; default 10,000. */
  readonly ownerTimeout?: number;
  /** How many changes the change feed keeps at least. */
  readonly changesLimit?: number;
  /** Where the worker script is, if the bundler does not find it. */
  readonly workerUrl?: string | URL;
  /** Where the SharedWorker script is that makes calls from other tabs faster, if the bundler does not find it. */
  readonly brokerUrl?: string | URL;
  /** Where sqlite3.wasm is, if it is not beside the worker script. */
  readonly wasmUrl?: string | URL;
  /** Hears what a developer may want to know; `console` fits. Default: nothing is written. */
  readonly logger?: Logger;
}

interface SharedConnection {
  readonly options: OpenStoresOptions;
  readonly connecting: Promise<WorkerConnector>;
  readonly wakeClaims: WakeClaims;
  users: number;
  closing?: Promise<void>;
}

const connections = new Map<string, SharedConnection>();

/**
 * Opens a database of stores, and resolves once its owner answers: a worker of this page, or of another tab.
 *
 * @throws StorageUnavailableError (its `reason` says why), StorageDamagedError, DatabaseNewerError, ClientOutdatedError,
 * NoOwnerError, OwnerUnresponsiveError; InvalidArgumentError when the name is open in this page with other options
 *
 * @example
 * const stores = await openStores({ name: "my-app" });
 * const inbox = stores.store(Inbox, "alice");
 * await inbox.update((draft) => {
 *   draft.messages.push("hello");
 * });
 * await stores.close();
 */
export async function openStores(options: OpenStoresOptions): Promise<Stores> {
  checkOptions(options);
  const shared = await join(options);
  try {
    const connector = await shared.connecting;
    if (shared.options.durability === "relaxed" && options.durability !== "relaxed") connector.setDurability("strict");
    const { logger } = options;
    return createStores(countedConnector(shared, connector), {
      wakeClaims: shared.wakeClaims,
      ...(logger === undefined ? {} : { logger }),
    });
  } catch (error) {
    await leave(shared);
    throw error;
  }
}

async function join(options: OpenStoresOptions): Promise<SharedConnection> {
  for (;;) {
    const open = connections.get(options.name);
    if (open?.closing === undefined) {
      if (open !== undefined) refuseOtherOptions(open.options, options);
      const shared = open ?? connect(options);
      shared.users += 1;
      return shared;
    }
    await open.closing;
  }
}

function connect(options: OpenStoresOptions): SharedConnection {
  const { logger: _, ...connectionOptions } = options;
  const shared = { options, connecting: openConnection(connectionOptions), wakeClaims: new WakeClaims(), users: 0 };
  connections.set(options.name, shared);
  return shared;
}

/** The connection as one of its users sees it: it meets the owner that was there before, and closing only counts down. */
function countedConnector(shared: SharedConnection, connector: WorkerConnector): StoreConnector {
  return {
    ...connector,
    subscribe(listener) {
      for (const event of connector.standing()) listener(event);
      return connector.subscribe(listener);
    },
    close: () => leave(shared),
  };
}

async function leave(shared: SharedConnection): Promise<void> {
  shared.users -= 1;
  if (shared.users > 0) return;
  shared.closing ??= shared.connecting
    .then((connector) => connector.close())
    // It never opened, and has nothing to close.
    .catch(() => undefined)
    .then(() => void connections.delete(shared.options.name));
  await shared.closing;
}

function checkOptions(options: OpenStoresOptions): void {
  checkIdentifier("database name", options?.name);
  const { durability, fallback, ownerTimeout, changesLimit } = options;
  const refuse = (option: string, allowed: string): never => {
    throw new InvalidArgumentError(`The option ${option} of "${options.name}" must be ${allowed}.`, { option });
  };
  if (![undefined, "strict", "relaxed"].includes(durability)) refuse("durability", '"strict" or "relaxed"');
  if (![undefined, "memory"].includes(fallback)) refuse("fallback", '"memory", or left out');
  if (ownerTimeout !== undefined && !(Number.isFinite(ownerTimeout) && ownerTimeout > 0)) {
    refuse("ownerTimeout", "a number of milliseconds above 0");
  }
  if (changesLimit !== undefined && !(Number.isSafeInteger(changesLimit) && changesLimit > 0)) {
    refuse("changesLimit", "an integer from 1");
  }
}

function refuseOtherOptions(open: OpenStoresOptions, asked: OpenStoresOptions): void {
  const keys = [
    "fallback",
    "persist",
    "ownerTimeout",
    "changesLimit",
    "workerUrl",
    "brokerUrl",
    "wasmUrl",
    "logger",
  ] as const;
  const differing = keys.filter((key) => textOf(open[key]) !== textOf(asked[key]));
  if (differing.length === 0) return;
  throw new InvalidArgumentError(
    `"${asked.name}" is open in this page with another ${differing.join(", ")}: pass the same options each time, or close it first.`,
    { options: differing },
  );
}

/** Two URLs of one address are the same option. */
function textOf(value: OpenStoresOptions[keyof OpenStoresOptions]): unknown {
  return value instanceof URL ? value.href : value;
}
