/**
 * The page's BroadcastChannels, all in one file: the event channel of a database and the call channel of one session.
 */
import { isChannelMessage } from "../protocol/wire-checks.js";
import { type ChannelMessage, eventChannel, sessionChannel } from "../protocol/wire.js";
import type { MessageEndpoint } from "./call-link.js";

export interface EventChannel {
  post(message: ChannelMessage): void;
  close(): void;
}

/**
 * Opens the event channel of a database.
 *
 * @param receive gets every message of the protocol
 * @param drop is told of every message that is not of the protocol (W1)
 */
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

/** The channel that carries this session's calls: the way that always works. */
export function openSessionChannel(name: string, session: string): MessageEndpoint {
  return new BroadcastChannel(sessionChannel(name, session));
}
