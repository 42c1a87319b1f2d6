/**
 * What a page remembers of a database outside of OPFS, so that one that has vanished is not taken for a new one.
 *
 * In localStorage, which Chromium keeps when it evicts a site's data for want of room, and which whoever deletes files of
 * OPFS leaves alone. Where the browser or the user clears all of the site's data, the marker goes as well, and nothing can
 * be known (Firefox evicts both together).
 */
import { lineOf } from "../protocol/transfer.js";

const keyOf = (name: string): string => `wakeful:${name}`;

/** Remembers the database. Answers whether another one was remembered under this name. */
export function markDatabase(name: string, databaseId: string): boolean {
  try {
    const line = lineOf(databaseId);
    const remembered = localStorage.getItem(keyOf(name));
    if (remembered !== line) localStorage.setItem(keyOf(name), line);
    return remembered !== null && remembered !== line;
  } catch {
    return false; // A worker has none, and a page may be forbidden to use it.
  }
}

/** The database is given up on purpose: the next one of this name is new, and nothing was lost. */
export function unmarkDatabase(name: string): void {
  try {
    localStorage.removeItem(keyOf(name));
  } catch {
    // As above: then there is no marker.
  }
}
