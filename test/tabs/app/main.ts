/** The page of the tab tests: it offers the library to `page.evaluate` and says when its module has run. */
import { z } from "zod";
// oxlint-disable-next-line import/default -- Vite makes the default export of what is imported with ?url.
import clientWorkerUrl from "./client-worker.ts?worker&url";
import * as library from "../../../src/index.js";

const Counter = library.defineStore("counter", z.object({ count: z.number() }), { initial: () => ({ count: 0 }) });
const Queue = library.defineStore("queue", z.object({ waiting: z.array(z.string()), taken: z.array(z.string()) }), {
  initial: () => ({ waiting: [], taken: [] }),
});

type OpenStoresOptions = Parameters<typeof library.openStores>[0];

/** What a page under load wrote down before it was killed is kept by the test, through this binding. */
declare const acknowledge: (entry: string) => Promise<void>;

async function open(options: OpenStoresOptions): Promise<library.Stores> {
  const stores = await library.openStores(options);
  page.stores = stores;
  stores.on("owner", (owner) => {
    page.owner = { host: owner.host, epoch: owner.epoch, at: Date.now() };
  });
  return stores;
}

/**
 * Counts up until `counting` is false: `label` says who counts, and each acknowledged step is written down outside of the browser.
 * A step that fails is written down, too, and with a step id it is repeated.
 */
async function countUp(stores: library.Stores, label: string, withSteps: boolean): Promise<void> {
  const counter = stores.store(Counter, withSteps ? "steps" : "bare");
  for (let n = 1; page.counting; n++) {
    const stepId = { executionId: `count-${label}`, stepKey: String(n) };
    try {
      const { version } = await counter.update((draft) => void draft.count++, withSteps ? { stepId } : {});
      await acknowledge(`${label} ${n} ${version} acknowledged ${page.owner?.epoch ?? 0}`);
    } catch (error) {
      const code = error instanceof library.WakefulError ? error.code : String(error);
      await acknowledge(`${label} ${n} - ${code} ${page.owner?.epoch ?? 0}`);
      if (withSteps) n -= 1;
    }
  }
}

async function activeServiceWorker(): Promise<ServiceWorker> {
  const registration = await navigator.serviceWorker.register(clientWorkerUrl, { type: "module" });
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  if (worker === null) throw new Error("The service worker was not installed.");
  while (worker.state !== "activated") {
    await new Promise((resolve) => worker.addEventListener("statechange", resolve, { once: true }));
  }
  return worker;
}

/** Lets a worker of the app, of either kind, count up on its own connection, and answers what it says. */
async function countInWorker(kind: "worker" | "service worker", name: string): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => {
    port1.addEventListener("message", ({ data }) => resolve(data));
    port1.start();
  });
  const request = { name, id: "one" };
  if (kind === "worker") new Worker(clientWorkerUrl, { type: "module" }).postMessage(request, [port2]);
  else (await activeServiceWorker()).postMessage(request, [port2]);
  return answer;
}

const page = {
  library,
  countInWorker,
  Counter,
  Queue,
  open,
  countUp,
  counting: true,
  ended: Promise.resolve() as Promise<unknown>,
  stores: null as library.Stores | null,
  owner: null as { readonly host: string; readonly epoch: number; readonly at: number } | null,
  /** Filled and read by tests. */
  notes: [] as unknown[],
};

declare global {
  interface Window {
    page: typeof page;
  }
}

window.page = page;
document.documentElement.dataset["ready"] = "true";
