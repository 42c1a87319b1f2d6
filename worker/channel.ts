/**
 * The worker's BroadcastChannels, all in one file: the event channel of the database, and the call channel of each
 * session that reaches this owner from another tab.
 */
import { type ForeignMessage, foreignMessage } from "../src/protocol/builds.js";
import { isChannelMessage } from "../src/protocol/wire-checks.js";
import { type ChannelMessage, eventChannel, sessionChannel } from "../src/protocol/wire.js";
import type { MessageEndpoint } from "./endpoint.js";

export interface EventChannel {
  post(message: ChannelMessage): void;
  close(): void;
}

export interface ChannelListener {
  receive(message: ChannelMessage): void;
  /** A message of a build that cannot live beside this one. */
  foreign(message: ForeignMessage): void;
  /** What is not of the protocol (W1). */
  drop(): void;
}

/** Opens the event channel of a database. */
export function openEventChannel(name: string, listener: ChannelListener): EventChannel {
  const channel = new BroadcastChannel(eventChannel(name));
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    const foreign = foreignMessage(data);
    if (foreign !== null) listener.foreign(foreign);
    else if (isChannelMessage(data)) listener.receive(data);
    else listener.drop();
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
