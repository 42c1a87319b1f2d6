/**
 * One way to one owner: Comlink's wrapped call function over a MessagePort or a session's BroadcastChannel.
 *
 * Comlink matches replies to calls. What it lacks is added here: frames that are not of the protocol never reach it
 * (W1), a reply of another epoch is dropped (W2), and after `close` nothing is sent any more, not even by Comlink's
 * own finalizer.
 */
import { type Endpoint, type Remote, wrap } from "comlink";
import { fromWire, type WakefulError } from "../protocol/errors.js";
import { isReplyFrame } from "../protocol/wire-checks.js";
import type { CallFunction, CallReply, CallRequest } from "../protocol/wire.js";

/** What MessagePort and BroadcastChannel have in common. */
export interface MessageEndpoint {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: MessageEvent<unknown>) => void): void;
  removeEventListener(type: "message", listener: (event: MessageEvent<unknown>) => void): void;
  /** MessagePorts only. */
  start?(): void;
  close(): void;
}

export interface CallLink {
  readonly epoch: number;
  /** The owner gave up for a newer build, and every reply that it sent by this link was heard before. */
  readonly isRetired: boolean;
  /** Never settles when the owner dies or the link is closed: whoever calls watches over that (pending-calls.ts). */
  call(request: CallRequest): Promise<CallReply>;
  close(): void;
}

export interface CallLinkListener {
  drop(): void;
  /** The owner gives up for a newer build. Comes behind every reply that it sent by this link. */
  retire(error: WakefulError): void;
}

export function openCallLink(endpoint: MessageEndpoint, epoch: number, listener: CallLinkListener): CallLink {
  let open = true;
  let isRetired = false;
  const listeners = new Map<EventListenerOrEventListenerObject, (event: MessageEvent<unknown>) => void>();
  const guarded: Endpoint = {
    postMessage(message) {
      if (open) endpoint.postMessage(message);
    },
    addEventListener(_type, hear) {
      const checked = (event: MessageEvent<unknown>): void => {
        if (!isReplyFrame(event.data) || event.data.value.epoch !== epoch) return listener.drop();
        const { value } = event.data;
        if (value.number === 0 && value.status === "failed") {
          isRetired = true;
          return listener.retire(fromWire(value.error));
        }
        if (typeof hear === "function") hear(event);
        else hear.handleEvent(event);
      };
      listeners.set(hear, checked);
      endpoint.addEventListener("message", checked);
    },
    removeEventListener(_type, hear) {
      const checked = listeners.get(hear);
      if (checked !== undefined) endpoint.removeEventListener("message", checked);
    },
  };
  // Held by this closure as long as the link is: Comlink releases a proxy that is collected in mid-call.
  const remote: Remote<CallFunction> = wrap<CallFunction>(guarded);
  endpoint.start?.();
  return {
    epoch,
    get isRetired() {
      return isRetired;
    },
    call: (request) => remote(request),
    close() {
      open = false;
      for (const checked of listeners.values()) endpoint.removeEventListener("message", checked);
      endpoint.close();
    },
  };
}

/**
 * Calls by `fast` from now on. `slow` stays open as long as `fast` does: replies to what was sent by it still come.
 */
export function joinLinks(fast: CallLink, slow: CallLink): CallLink {
  return {
    epoch: fast.epoch,
    // By both: a reply that is still on the one way may come after the word on the other.
    get isRetired() {
      return fast.isRetired && slow.isRetired;
    },
    call: (request) => fast.call(request),
    close() {
      slow.close();
      fast.close();
    },
  };
}
