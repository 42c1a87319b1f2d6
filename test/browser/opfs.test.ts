import { expect, test } from "vitest";
import type { OpfsProbeReply, OpfsProbeRequest } from "./opfs-probe.js";

const directory = `opfs-probe-${crypto.randomUUID()}`;

test("SQLite opens on OPFS with EXCLUSIVE, WAL and FULL, and a row outlives the worker that wrote it", async () => {
  const first = await probe("first");
  expect(first).toEqual({ lockingMode: "exclusive", journalMode: "wal", synchronous: 2, rows: ["first"] });

  const second = await probe("second");
  expect(second).toEqual({ ...first, rows: ["first", "second"] });
});

test("the page is not cross-origin isolated: nothing here needs COOP or COEP", () => {
  expect(crossOriginIsolated).toBe(false);
});

async function probe(add: string): Promise<OpfsProbeReply> {
  const worker = new Worker(new URL("./opfs-probe.js", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.addEventListener("message", (event: MessageEvent<OpfsProbeReply>) => resolve(event.data));
      worker.addEventListener("error", (event) => reject(new Error(event.message)));
      worker.postMessage({ directory, add } satisfies OpfsProbeRequest);
    });
  } finally {
    worker.terminate();
  }
}
