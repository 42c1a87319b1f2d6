/**
 * The page's side of the broker: a SharedWorker that hands MessagePorts from a session's page to the owner's page.
 *
 * A port is faster than the session's BroadcastChannel and nothing more: where there is no SharedWorker, or its script
 * cannot be loaded, calls go on by BroadcastChannel.
 */
import { isBrokerMessage } from "../protocol/wire-checks.js";
import type { BrokerMessage } from "../protocol/wire.js";

export interface BrokerClient {
  /** This page hosts the owner of this epoch: ports for it arrive at `receive`. */
  host(epoch: number): void;
  /** Asks that the owner of this epoch be linked with this session, and answers this end of the link. */
  connect(epoch: number, session: string): MessagePort;
  close(): void;
}

/**
 * @param receive a port of `session` for the owner of `epoch` that this page hosts
 * @returns `null` where there are no SharedWorkers
 */
export function openBroker(
  name: string,
  brokerUrl: string | URL | undefined,
  receive: (session: string, epoch: number, port: MessagePort) => void,
): BrokerClient | null {
  if (typeof SharedWorker === "undefined") return null;
  let broker: SharedWorker;
  try {
    // webpack names a worker's file after `name`: with the name of own-worker.ts the two would become one file.
    broker =
      brokerUrl === undefined
        ? new SharedWorker(new URL("../../worker/broker.js", import.meta.url), {
            type: "module",
            name: "wakeful-broker",
          })
        : new SharedWorker(brokerUrl, { type: "module", name: "wakeful-broker" });
  } catch {
    return null; // A security policy forbids it: BroadcastChannel carries the calls.
  }
  const { port } = broker;
  port.addEventListener("message", ({ data, ports }: MessageEvent<unknown>) => {
    const [link] = ports;
    if (isBrokerMessage(data) && data.type === "connect" && data.name === name && link !== undefined) {
      receive(data.session, data.epoch, link);
    }
  });
  port.start();
  const post = (message: BrokerMessage, transfer: Transferable[] = []): void => port.postMessage(message, transfer);
  return {
    host: (epoch) => post({ type: "host", name, epoch }),
    connect(epoch, session) {
      const { port1, port2 } = new MessageChannel();
      post({ type: "connect", name, epoch, session }, [port2]);
      return port1;
    },
    close: () => port.close(),
  };
}
