/**
 * The Web Lock of a session: held as long as its client lives, so that the owner knows for certain when it is gone,
 * whatever became of it.
 */
import { sessionLock } from "../protocol/wire.js";

/** Resolves with a function that gives the lock up. The owner may queue for it only after that, so nobody precedes. */
export function holdSessionLock(name: string, session: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(sessionLock(name, session), () => new Promise<void>((release) => resolve(release)))
      .catch(reject);
  });
}
