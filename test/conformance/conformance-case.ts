/**
 * What a case of the suite is. Cases are data, not calls to `test`, so that they can also be run against connectors
 * that are broken on purpose, to see that they fail.
 */
import type { StoreConnector } from "../../src/protocol/connector.js";

/** One database of the connector under test, empty when it is opened. */
export interface ConformanceDatabase {
  /** A new session of the same database. */
  connect(): Promise<StoreConnector>;
  /**
   * Replaces the owner: the sessions live on, what was committed stays (where `durable`), claims of wakes are dropped.
   * Resolves once the next owner answers every session, so that no call is lost with the one before.
   */
  restart?(): Promise<void>;
  /** Closes all sessions and removes the database. */
  close(): Promise<void>;
}

export interface ConformanceOptions {
  /** How many changes the feed is to keep; omitted: at least 10,000. */
  readonly changesLimit?: number;
  /** How often the case will call `restart`; omitted: never. */
  readonly restarts?: number;
}

export type OpenConformanceDatabase = (options: ConformanceOptions) => Promise<ConformanceDatabase>;

/** What the connector under test can do. A case that needs more is skipped and says why. */
export interface Capabilities {
  /** `connect` can be called more than once on one database. */
  readonly peers: boolean;
  /** `restart` exists. */
  readonly restart: boolean;
  /** What was committed is still there after `restart`. */
  readonly durable: boolean;
  /** `changesLimit` is honoured. */
  readonly changesLimit: boolean;
}

export const missingCapability: Readonly<Record<keyof Capabilities, string>> = {
  peers: "this connector has one session only",
  restart: "the owner of this connector cannot be replaced",
  durable: "this connector keeps nothing over a change of owner",
  changesLimit: "this connector's change feed has no bound to set",
};

export interface ConformanceCase {
  /** A sentence that begins with the line of the contract which it checks. */
  readonly name: string;
  readonly needs?: readonly (keyof Capabilities)[];
  readonly options?: ConformanceOptions;
  run(database: ConformanceDatabase): Promise<void>;
}

/** Replaces the owner of a database whose capabilities say that this can be done. */
export async function restart(database: ConformanceDatabase): Promise<void> {
  if (database.restart === undefined)
    throw new Error("The capability `restart` is claimed without a function restart.");
  await database.restart();
}
