/**
 * The sessions that call this owner.
 *
 * Owns: their links, and the knowledge of who is alive.
 * Does not own: what a call does.
 *
 * S1  A session is alive as long as the lock is held that its client took before it said hello. The lock being granted
 *     here means that the client is gone, whatever became of it.
 * S2  A session that ended is forgotten with its links; if it says hello again it is registered anew.
 */
import type { WireError } from "../src/protocol/errors.js";
import { type CallFunction, sessionLock } from "../src/protocol/wire.js";
import { exposeCalls, type ExposedLink, type MessageEndpoint } from "./endpoint.js";

interface Session {
  readonly links: ExposedLink[];
  readonly watch: AbortController;
}

export interface SessionsOptions {
  readonly name: string;
  readonly epoch: number;
  readonly call: CallFunction;
  readonly drop: () => void;
  /** A session is gone for certain. */
  readonly ended: (session: string) => void;
}

export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Whether it is alive as far as is known. */
  has(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** Whether it can call. */
  isLinked(session: string): boolean {
    return (this.#sessions.get(session)?.links.length ?? 0) > 0;
  }

  /** Lets `session` call by `endpoint`. */
  link(session: string, endpoint: MessageEndpoint): void {
    const { epoch, call, drop } = this.#options;
    this.watch(session).links.push(exposeCalls(endpoint, { session, epoch }, call, drop));
  }

  /** Watches whether `session` lives, until it ends. */
  watch(session: string): Session {
    const watched = this.#sessions.get(session);
    if (watched !== undefined) return watched;
    const entry: Session = { links: [], watch: new AbortController() };
    this.#sessions.set(session, entry);
    navigator.locks
      .request(sessionLock(this.#options.name, session), { signal: entry.watch.signal }, () => {
        if (this.#sessions.get(session) === entry) this.#end(session, entry);
      })
      .catch(() => undefined); // Rejects only when `close` aborts it.
    return entry;
  }

  /** Tells every session that this owner gives up for good. */
  retire(error: WireError): void {
    for (const { links } of this.#sessions.values()) for (const link of links) link.retire(error);
  }

  /** Closes all links, since this owner goes. The sessions live on. */
  close(): void {
    for (const { links, watch } of this.#sessions.values()) {
      watch.abort();
      for (const link of links) link.close();
    }
    this.#sessions.clear();
  }

  #end(session: string, { links }: Session): void {
    this.#sessions.delete(session);
    for (const link of links) link.close();
    this.#options.ended(session);
  }
}
