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

  has(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** Lets `session` call by `endpoint`; the first time, also begins to watch whether it lives. */
  link(session: string, endpoint: MessageEndpoint): void {
    const { epoch, call, drop } = this.#options;
    let entry = this.#sessions.get(session);
    if (entry === undefined) {
      entry = { links: [], watch: new AbortController() };
      this.#sessions.set(session, entry);
      this.#watch(session, entry);
    }
    entry.links.push(exposeCalls(endpoint, { session, epoch }, call, drop));
  }

  #watch(session: string, entry: Session): void {
    navigator.locks
      .request(sessionLock(this.#options.name, session), { signal: entry.watch.signal }, () => {
        if (this.#sessions.get(session) === entry) this.end(session);
      })
      .catch(() => undefined); // Rejects only when `end` aborts it.
  }

  /** Idempotent. */
  end(session: string): void {
    const entry = this.#sessions.get(session);
    if (entry === undefined) return;
    this.#sessions.delete(session);
    entry.watch.abort();
    for (const link of entry.links) link.close();
    this.#options.ended(session);
  }

  endAll(): void {
    for (const session of [...this.#sessions.keys()]) this.end(session);
  }
}
