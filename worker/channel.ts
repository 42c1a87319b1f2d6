/**
 * The worker's BroadcastChannels, all in one file: the event channel of the database, and the call channel of each
 * session that reaches this owner from another tab.
 */
import { isChannelMessage } from "../src/protocol/wire-checks.js";
import { type ChannelMessage, eventChannel, sessionChannel } from "../src/protocol/wire.js";
import type { MessageEndpoint } from "./endpoint.js";

export interface EventChannel {
  post(message: ChannelMessage): void;
  close(): void;
}

/** Opens the event channel. What is not of the protocol goes to `drop` and nowhere else (W1). */
export function openEventChannel(
  name: string,
  receive: (message: ChannelMessage) => void,
  drop: () => void,
): EventChannel {
  const channel = new BroadcastChannel(eventChannel(name));
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (isChannelMessage(data)) receive(data);
    else drop();
  });
  return {
    post: (message) => channel.postMessage(message),
    close: () => channel.close(),
  };
}

/** The channel on which one session calls. */
export function openSessionChannel(name: string, session: string): MessageEndpoint {
  return new BroadcastChannel(sessionChannel(name, session));
}
