/**
 * The calls that wait for their turn at the owner, and the grouping of commits: one flush for many.
 *
 * Q1  Calls run in the order in which they arrived, whichever session they are of.
 * Q2  Commits that stand next to each other in the queue are one group (connector.ts H5).
 * Q3  The queue is worked off in a task of its own, behind the messages that had arrived by then: those join the group.
 *     A reading that finds the queue empty does not wait.
 */
import { ClosedError, toWire } from "../src/protocol/errors.js";
import type { CallReply, CallRequest } from "../src/protocol/wire.js";
import type { CommitCall, Settled } from "./connector.js";

/** Commits in one transaction at most: what is in memory for one flush, and what has to run again should it fail. */
const MAX_GROUP = 256;

export interface CallQueueOptions {
  readonly epoch: number;
  /** Runs what is no commit. */
  readonly run: (request: CallRequest) => unknown;
  readonly commitAll: (calls: readonly CommitCall[]) => readonly Settled[];
  /** A call failed. Answers whether its caller is to be told; otherwise the next owner knows better, and answers it. */
  readonly failed: (error: unknown) => boolean;
}

interface QueuedCall {
  readonly request: CallRequest;
  readonly reply: (reply: CallReply) => void;
}

export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #turn = new MessageChannel();
  #queue: QueuedCall[] = [];
  #closed = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
    this.#turn.port1.addEventListener("message", () => this.#workOff());
    this.#turn.port1.start();
  }

  call(request: CallRequest): Promise<CallReply> {
    return new Promise((reply) => {
      const call = { request, reply };
      if (this.#closed) return this.#fail(call, new ClosedError("This owner has closed: ask the next one."));
      if (request.method !== "commit" && this.#queue.length === 0) return this.#runOne(call);
      this.#queue.push(call);
      if (this.#queue.length === 1) this.#turn.port2.postMessage(null);
    });
  }

  /** Runs what waits, then refuses. */
  close(): void {
    this.#workOff();
    this.#closed = true;
    this.#turn.port1.close();
  }

  #workOff(): void {
    const calls = this.#queue;
    this.#queue = [];
    for (let at = 0; at < calls.length; ) {
      const group = groupAt(calls, at);
      const [first] = group;
      if (first === undefined) return;
      if (first.request.method === "commit") this.#commitGroup(group);
      else this.#runOne(first);
      at += group.length;
    }
  }

  #commitGroup(group: readonly QueuedCall[]): void {
    let settled: readonly Settled[];
    try {
      settled = this.#options.commitAll(
        group.map(({ request }) => ({ session: request.session, body: request.body, sent: request })),
      );
    } catch (error) {
      for (const call of group) this.#fail(call, error);
      return;
    }
    for (const [index, call] of group.entries()) {
      const outcome = settled[index];
      if (outcome?.status === "done") this.#answer(call, outcome.value);
      else this.#fail(call, outcome?.error);
    }
  }

  #runOne(call: QueuedCall): void {
    try {
      this.#answer(call, this.#options.run(call.request));
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #answer({ request, reply }: QueuedCall, value: unknown): void {
    reply({ epoch: this.#options.epoch, number: request.number, status: "done", value });
  }

  #fail({ request, reply }: QueuedCall, error: unknown): void {
    if (!this.#options.failed(error)) return;
    reply({ epoch: this.#options.epoch, number: request.number, status: "failed", error: toWire(error) });
  }
}

/** The commits that stand next to each other from here on, or the one call that is here. */
function groupAt(calls: readonly QueuedCall[], at: number): readonly QueuedCall[] {
  let end = at + 1;
  if (calls[at]?.request.method === "commit") {
    while (end < calls.length && end - at < MAX_GROUP && calls[end]?.request.method === "commit") end += 1;
  }
  return calls.slice(at, end);
}
