/**
 * The calls of one session that have not been settled.
 *
 * Owns: the calls, their numbers, whether and to which owner each was sent.
 * Does not own: which owner answers (connection.ts), how a message travels (call-link.ts).
 *
 * P1  Every call settles: with its outcome, with a typed error, or after it was sent again to the next owner.
 * P2  A call that was never sent is never applied; an aborted signal ends it. Once sent, the signal is ignored.
 * P3  What was sent to an owner that is lost is sent again to the next one, under the same number: a write that had been
 *     applied is answered from the session's record and not applied twice. It says so if the session's lock was given up
 *     in between (`returning`). Only a write to a database that is gone, or to an owner that stays silent, ends with an
 *     outcome that nobody knows.
 * P4  Time is counted in ticks and not read from a clock, so that a page that slept does not expire what is only late.
 */
import {
  AbortedError,
  fromWire,
  NoOwnerError,
  OutcomeUnknownError,
  OwnerUnresponsiveError,
  type WakefulError,
} from "../protocol/errors.js";
import type { CommitRequest } from "../protocol/connector.js";
import type { Attempt, CallMethod } from "../protocol/wire.js";
import type { CallLink } from "./call-link.js";

interface PendingCall {
  readonly number: number;
  readonly method: CallMethod;
  readonly body: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: WakefulError) => void;
  readonly release: () => void;
  /** Epoch of the owner it was sent to; `null`: it waits for one. */
  sentTo: number | null;
  attempt: Attempt;
  /** Ticks since it was made, or since it was last sent. */
  ticks: number;
}

/** Whether applying this call twice is the same as applying it once, whatever the database knows of its session. */
function isIdempotent(method: CallMethod, body: unknown): boolean {
  // An import that went through unheard replaced everything, also what was written since: it must not count as undone.
  if (method !== "commit") return method !== "finishImport";
  // A receipt answers a repeated step; a repeated bare creation meets its own row and reports it as a conflict.
  return (body as CommitRequest).operations.every(
    (operation) => operation.step !== undefined || (operation.type === "create" && operation.version === 0),
  );
}

export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>();
  readonly #session: string;
  #number = 0;
  #onSettled: (() => void) | null = null;

  constructor(session: string) {
    this.#session = session;
  }

  /** Resolves once no call is left. */
  settled(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onSettled = resolve;
    });
  }

  /** Adds a call. It settles by `send`, `lose`, `tick` or `fail`. */
  add(method: CallMethod, body: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const number = ++this.#number;
      const onAbort = (): void => {
        const call = this.#calls.get(number);
        if (call !== undefined && !wasSent(call)) this.#settle(call).reject(aborted(signal));
      };
      if (signal?.aborted === true) return reject(aborted(signal));
      signal?.addEventListener("abort", onAbort);
      const release = (): void => signal?.removeEventListener("abort", onAbort);
      this.#calls.set(number, {
        number,
        method,
        body,
        resolve,
        reject,
        release,
        sentTo: null,
        attempt: "first",
        ticks: 0,
      });
    });
  }

  /** Sends what waits for an owner, in the order in which it was called. */
  send(link: CallLink): void {
    for (const call of this.#calls.values()) {
      if (call.sentTo === null) this.#sendOne(call, link);
    }
  }

  #sendOne(call: PendingCall, link: CallLink): void {
    const { number, method, body, attempt } = call;
    call.sentTo = link.epoch;
    call.ticks = 0;
    const acknowledged = this.#calls.keys().next().value ?? number;
    link.call({ session: this.#session, number, acknowledged, attempt, epoch: link.epoch, method, body }).then(
      (reply) => {
        if (this.#calls.get(number) !== call || reply.number !== number) return;
        if (reply.status === "done") this.#settle(call).resolve(reply.value);
        else this.#settle(call).reject(fromWire(reply.error));
      },
      // The link could not even send it (a body that cannot be cloned): nothing was applied.
      (cause: unknown) => {
        if (this.#calls.get(number) === call) {
          this.#settle(call).reject(new OwnerUnresponsiveError("The call could not be sent.", {}, { cause }));
        }
      },
    );
  }

  /**
   * The owner they were sent to is gone, or this session gives up its place (P3).
   *
   * @param attempt how they are to be sent the next time
   */
  lose(attempt: Exclude<Attempt, "first">): void {
    for (const call of this.#calls.values()) {
      if (attempt === "returning" && call.attempt === "again") call.attempt = "returning";
      if (call.sentTo === null) continue;
      call.sentTo = null;
      call.ticks = 0;
      if (call.attempt !== "returning") call.attempt = attempt;
    }
  }

  /** The database that they were sent to is gone with all its records. What was never sent goes to the next one. */
  voidSent(): void {
    for (const call of [...this.#calls.values()]) {
      if (!wasSent(call)) continue;
      if (isIdempotent(call.method, call.body)) call.attempt = "first";
      else this.#settle(call).reject(unknown("The database that this write was sent to is gone."));
    }
  }

  /**
   * One tick of the watch over calls (P1).
   *
   * @param limit ticks a call may wait
   * @param ownerIsSilent nothing was heard of the owner for as long as that
   * @returns whether calls wait, and whether the owner answers, but not to one of them: its message was lost
   */
  tick(limit: number, ownerIsSilent: boolean): { readonly waiting: boolean; readonly stuck: boolean } {
    let stuck = false;
    for (const call of [...this.#calls.values()]) {
      call.ticks += 1;
      if (call.ticks < limit) continue;
      if (call.sentTo === null) this.#settle(call).reject(this.#endOf(call, noOwner(call)));
      else if (ownerIsSilent) {
        const outcome = isIdempotent(call.method, call.body) ? "repeatable" : "unknown";
        this.#settle(call).reject(unresponsive(outcome));
      } else stuck = true;
    }
    return { waiting: this.#calls.size > 0, stuck };
  }

  /**
   * Ends every call, or only those that were never sent. `unapplied`: all, and it is known of each sent for the first
   * time that it was not applied.
   */
  fail(error: WakefulError, which: "all" | "unsent" | "unapplied" = "all"): void {
    for (const call of [...this.#calls.values()]) {
      if (which === "unsent" && wasSent(call)) continue;
      const isCertain = which === "unapplied" && call.attempt === "first";
      this.#settle(call).reject(isCertain ? error : this.#endOf(call, error));
    }
  }

  /** What a call ends with that gets no answer any more. */
  #endOf(call: PendingCall, error: WakefulError): WakefulError {
    return wasSent(call) && !isIdempotent(call.method, call.body) ? unknown(error.message) : error;
  }

  #settle(call: PendingCall): PendingCall {
    this.#calls.delete(call.number);
    call.release();
    if (this.#calls.size === 0) this.#onSettled?.();
    return call;
  }
}

function wasSent({ sentTo, attempt }: PendingCall): boolean {
  return sentTo !== null || attempt !== "first";
}

/** What is said after it of a write that was sent is in `unknown`. */
function noOwner(call: PendingCall): NoOwnerError {
  const wasWritten = wasSent(call) ? "" : " Nothing was written.";
  const advice = !wasSent(call) || isIdempotent(call.method, call.body) ? " Repeat the call; that is safe." : "";
  return new NoOwnerError(`No open tab could take the database in time.${wasWritten}${advice}`);
}

function unresponsive(outcome: "repeatable" | "unknown"): OwnerUnresponsiveError {
  return new OwnerUnresponsiveError(
    "The tab that owns the database does not answer; it may be frozen. Close or wake it, and repeat the call.",
    { outcome },
  );
}

function aborted(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError(
    "The call was aborted before it was sent. Nothing was written.",
    {},
    { cause: signal?.reason },
  );
}

function unknown(what: string): OutcomeUnknownError {
  return new OutcomeUnknownError(
    `${what} A write may or may not have been applied: read the store to find out, or give writes a step id, which makes repeating them safe.`,
  );
}
