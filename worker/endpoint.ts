/**
 * The worker's end of a call link: exposes one function through Comlink, to one session, for one epoch.
 *
 * Comlink would also get, set, construct and hand out ports; only frames that apply the one function reach it (W1). A
 * request of another session or another epoch is dropped without an answer (W3): an owner that was frozen while it was
 * replaced must not answer for its successor.
 */
import { expose } from "comlink";
import type { WireError } from "../src/protocol/errors.js";
import { isRequestFrame } from "../src/protocol/wire-checks.js";
import type { CallFunction, CallReply } from "../src/protocol/wire.js";

/** What MessagePort and BroadcastChannel have in common. */
export interface MessageEndpoint {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: MessageEvent<unknown>) => void): void;
  removeEventListener(type: "message", listener: (event: MessageEvent<unknown>) => void): void;
  /** MessagePorts only. */
  start?(): void;
  close(): void;
}

export interface ExposedLink {
  /**
   * Tells the session that this owner gives up for good: what it has no reply to by then was not applied. Goes behind
   * the replies to all calls that have run by now, and needs one task before the link is closed.
   */
  retire(error: WireError): void;
  close(): void;
}

export function exposeCalls(
  endpoint: MessageEndpoint,
  { session, epoch }: { readonly session: string; readonly epoch: number },
  call: CallFunction,
  drop: () => void,
): ExposedLink {
  let open = true;
  expose(call, {
    postMessage(message) {
      if (open) endpoint.postMessage(message);
    },
    addEventListener(_type, listener) {
      endpoint.addEventListener("message", (event) => {
        if (!open) return;
        if (!isRequestFrame(event.data)) return drop();
        const request = event.data.argumentList[0].value;
        if (request.session !== session || request.epoch !== epoch) return drop();
        if (typeof listener === "function") listener(event);
        else listener.handleEvent(event);
      });
    },
    // Comlink removes its listener only on a release frame, and no such frame is let through.
    removeEventListener() {},
  });
  endpoint.start?.();
  return {
    retire(error) {
      const value: CallReply = { epoch, number: 0, status: "failed", error };
      // In a task of its own: Comlink sends the reply to a call that has just run in a microtask, and it goes first.
      setTimeout(() => {
        if (open) endpoint.postMessage({ id: "retire", type: "RAW", value });
      });
    },
    close() {
      open = false;
      endpoint.close();
    },
  };
}
