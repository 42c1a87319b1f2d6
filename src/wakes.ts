/**
 * Wakes as a deliverer iterates over them: durable requests that an execution be delivered again.
 *
 * Owns: which wakes this session is delivering. Does not own: the rows and the claims, which are the database's.
 *
 * H1  While one owner lives, a wake is delivered by one client at a time, and by this session once at a time.
 * H2  A wake stays with its iteration until it is acknowledged or released; when the iteration ends, what it left open
 *     is given back.
 * H3  No delivery waits for another: each wake is claimed when it is asked for, and not before, so that other clients
 *     get those that this one has no hand free for.
 */
import { abortable } from "./abort.js";
import { despiteOwnerLoss } from "./observation.js";
import type { Wake } from "./protocol/connector.js";
import { MAX_PAGE } from "./protocol/limits.js";
import type { StoreView } from "./store-view.js";

/** A wake that this client has claimed. */
export interface StoreWake extends Wake {
  /** The delivery is done. A wake that was requested meanwhile stays, and comes again. */
  acknowledge(): Promise<void>;
  /** The delivery failed: any client may claim the wake again, this one too. */
  release(): Promise<void>;
}

/** The wakes of one session: clients that share a session share it, since claims are the session's. */
export class WakeClaims {
  /** The executions that are being delivered. */
  readonly open: Set<string> = new Set();
  readonly readers: Set<() => void> = new Set();

  lookAgain(): void {
    for (const reader of this.readers) reader();
  }
}

export class WakeFeed {
  readonly #view: StoreView;
  readonly #claims: WakeClaims;

  constructor(view: StoreView, claims: WakeClaims = new WakeClaims()) {
    this.#view = view;
    this.#claims = claims;
    view.events.on("wake", () => claims.lookAgain());
  }

  async *read(source: AbortSignal | undefined): AsyncGenerator<StoreWake, undefined, undefined> {
    const { follower } = this.#view;
    const limit = this.#view.limit(source);
    const mine = new Map<string, StoreWake>();
    let look = (): void => undefined;
    const reader = (): void => look();
    this.#claims.readers.add(reader);
    try {
      for (;;) {
        // Before the reading: what is requested during it must not be slept through.
        const requested = new Promise<void>((resolve) => {
          look = resolve;
        });
        const wake = await this.#claim(limit.signal);
        if (wake === undefined) await abortable(Promise.race([requested, follower.chance()]), limit.signal);
        else {
          const delivery = this.#deliver(wake, mine);
          mine.set(wake.executionId, delivery);
          yield delivery;
        }
      }
    } finally {
      this.#claims.readers.delete(reader);
      limit.end();
      // Not awaited: should it fail, the claims end with this client's session.
      for (const delivery of mine.values()) delivery.release().catch(() => undefined);
    }
  }

  /** The next wake that nobody delivers, now claimed. */
  async #claim(signal: AbortSignal): Promise<Wake | undefined> {
    const waiting = { signal, beforeWaiting: () => undefined };
    // Those being delivered are this client's, so they are answered again.
    const limit = Math.min(this.#claims.open.size + 1, MAX_PAGE);
    const wakes = await despiteOwnerLoss(this.#view, waiting, () => {
      const claiming = this.#view.connector.readWakes({ limit, claim: true });
      return abortable(claiming, signal).catch((error: unknown) => {
        if (signal.aborted) void claiming.then((claimed) => this.#giveBack(claimed)).catch(() => undefined);
        throw error;
      });
    });
    const wake = wakes.find(({ executionId }) => !this.#claims.open.has(executionId));
    if (wake !== undefined) this.#claims.open.add(wake.executionId);
    return wake;
  }

  /** What was claimed for an iteration that ended meanwhile (H2). Another reader of this session has a claim to it, too. */
  #giveBack(claimed: readonly Wake[]): void {
    if (this.#claims.readers.size > 0) return this.#claims.lookAgain();
    for (const { executionId } of claimed) {
      if (this.#claims.open.has(executionId)) continue;
      // As at the end of an iteration: should it fail, the claim ends with this client's session.
      this.#view.connector.releaseWake({ executionId }).catch(() => undefined);
    }
  }

  #deliver(wake: Wake, mine: Map<string, StoreWake>): StoreWake {
    const { executionId, generation } = wake;
    const { connector } = this.#view;
    let isSettled = false;
    const settle = async (send: () => Promise<void>): Promise<void> => {
      if (isSettled) return;
      await send();
      if (isSettled) return;
      isSettled = true;
      this.#claims.open.delete(executionId);
      mine.delete(executionId);
      this.#claims.lookAgain();
    };
    return {
      ...wake,
      acknowledge: () => settle(() => connector.acknowledgeWake({ executionId, generation })),
      release: () => settle(() => connector.releaseWake({ executionId })),
    };
  }
}
