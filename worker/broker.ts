/**
 * The broker: a SharedWorker that hands MessagePorts to the page that hosts the owner. It sees no call and no data.
 *
 * B1  A port goes only to the host of the epoch it was made for. It waits for a host that is not known yet, and is
 *     closed when a later host comes.
 */
import { isBrokerMessage } from "../src/protocol/wire-checks.js";
import type { BrokerMessage } from "../src/protocol/wire.js";

type ConnectMessage = Extract<BrokerMessage, { type: "connect" }>;

interface Waiting {
  readonly message: ConnectMessage;
  readonly link: MessagePort;
}

interface Host {
  epoch: number;
  page: MessagePort | null;
  waiting: Waiting[];
}

// The types of a SharedWorker's scope and of a dedicated worker's exclude each other in one project; this is all of it.
interface SharedScope {
  addEventListener(type: "connect", listener: (event: MessageEvent) => void): void;
}

const hosts = new Map<string, Host>();

function hostOf(name: string): Host {
  let host = hosts.get(name);
  if (host === undefined) {
    host = { epoch: 0, page: null, waiting: [] };
    hosts.set(name, host);
  }
  return host;
}

function settle(host: Host): void {
  const { page, epoch } = host;
  host.waiting = host.waiting.filter(({ message, link }) => {
    if (message.epoch > epoch) return true;
    if (message.epoch === epoch && page !== null) page.postMessage(message, [link]);
    else link.close();
    return false;
  });
}

function receive(page: MessagePort, { data, ports: [link] }: MessageEvent<unknown>): void {
  if (!isBrokerMessage(data)) return;
  const host = hostOf(data.name);
  if (data.type === "connect" && link !== undefined) host.waiting.push({ message: data, link });
  else if (data.type === "host" && data.epoch >= host.epoch) {
    host.epoch = data.epoch;
    host.page = page;
  }
  settle(host);
}

(self as unknown as SharedScope).addEventListener("connect", ({ ports: [page] }) => {
  if (page === undefined) return;
  page.addEventListener("message", (event) => receive(page, event));
  page.start();
});
