/** The page of the tab tests: it offers the library to `page.evaluate` and says when its module has run. */
import { z } from "zod";
import * as library from "../../../src/index.js";

const Counter = library.defineStore("counter", z.object({ count: z.number(), by: z.record(z.string(), z.number()) }), {
  initial: () => ({ count: 0, by: {} }),
});
const Queue = library.defineStore("queue", z.object({ waiting: z.array(z.string()), taken: z.array(z.string()) }), {
  initial: () => ({ waiting: [], taken: [] }),
});

/** Every worker this page has spawned, so that a test can terminate one for real. */
const workers: Worker[] = [];
const Native = window.Worker;
window.Worker = class extends Native {
  constructor(url: string | URL, options?: WorkerOptions) {
    super(url, options);
    workers.push(this);
  }
};

const page = { library, Counter, Queue, workers };

declare global {
  interface Window {
    page: typeof page;
  }
}

window.page = page;
document.documentElement.dataset["ready"] = "true";
