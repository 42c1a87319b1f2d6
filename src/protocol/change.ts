/** What a commit did to one store: the row of the change feed, and what events are made of. */

/** Which document: the definition's name and the id under it. */
export interface StoreKey {
  readonly storeName: string;
  readonly storeId: string;
}

/** One store's part of one commit, as the change feed keeps it. */
export interface Change extends StoreKey {
  readonly sequence: number;
  /** Index among the changes of the same commit. */
  readonly position: number;
  readonly instanceId: string;
  /** The version written; for a deletion, the one deleted. */
  readonly version: number;
  /** Canonical text of the changed paths (path.ts). */
  readonly changedPaths: string;
  readonly deleted: boolean;
  /** Session of the client that committed. */
  readonly origin: string;
}
