import { DraftMisuseError } from "./protocol/errors.js";

/**
 * Throws when a callback that must be synchronous returned a promise: what it does later could not be part of a commit.
 *
 * @throws DraftMisuseError naming the callback
 */
export function refuseThenable(returned: unknown, callback: "updater" | "selector" | "claim" | "initial"): void {
  const isObjectLike = (typeof returned === "object" && returned !== null) || typeof returned === "function";
  if (!isObjectLike || !("then" in returned) || typeof returned.then !== "function") return;
  // The callback will fail once it touches what was closed behind it; that must not surface as an unhandled rejection.
  if (returned instanceof Promise) returned.catch(() => {});
  throw new DraftMisuseError(
    `The ${callback} returned a promise, but it has to be synchronous: await what you need before the call. Nothing was written.`,
  );
}
