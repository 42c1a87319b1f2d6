/** A change as apps read it: the row of the change feed with its paths decoded. */
import type { Change } from "./protocol/change.js";
import { decodePaths, type StorePath } from "./protocol/path.js";

/** What one commit did to one store. */
export interface StoreChange {
  /** Number of the commit in the whole database. Several stores changed by one commit share it. */
  readonly sequence: number;
  /** Index among the changes of the same commit. */
  readonly position: number;
  readonly storeName: string;
  readonly storeId: string;
  readonly instanceId: string;
  /** The version written; for a deletion, the one deleted. */
  readonly version: number;
  readonly changedPaths: readonly StorePath[];
  readonly deleted: boolean;
  /** Session of the client that committed. */
  readonly origin: string;
}

export function toStoreChange(change: Change): StoreChange {
  return { ...change, changedPaths: pathsOf(change.changedPaths) };
}

/** The paths of a change; of one that cannot be read, the root, since waking too many is safe and too few is not. */
export function pathsOf(text: string): StorePath[] {
  const decoded = decodePaths(text);
  return decoded.status === "decoded" ? decoded.paths : [[]];
}
