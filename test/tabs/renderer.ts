/**
 * Finds and kills the operating system's process behind one tab. Chromium on Linux only: Firefox keeps all tabs of an
 * origin in one process.
 */
import type { Page } from "@playwright/test";
import { busyTicks, processesBelow } from "./processes.js";

/** Without this, tabs of one site may share a process, and killing one would kill the others. */
export const PROCESS_PER_TAB = { args: ["--site-per-process", "--renderer-process-limit=100"] };

/** The process of this tab's page and its workers: the one that becomes busy when the page is told to burn time. */
export async function rendererOf(page: Page): Promise<number> {
  for (let burn = 200; burn <= 3200; burn *= 2) {
    const before = new Map(renderers().map((pid) => [pid, busyTicks(pid)]));
    await page.evaluate((milliseconds) => {
      const until = performance.now() + milliseconds;
      while (performance.now() < until);
    }, burn);
    const grown = [...before].map(([pid, busy]) => ({ pid, ticks: busyTicks(pid) - busy }));
    grown.sort((a, b) => b.ticks - a.ticks);
    const [first, second] = grown;
    // By ratio and not by amount: on a loaded machine the page gets only a part of the time that it burns.
    if (first !== undefined && first.ticks >= 5 && first.ticks > 3 * (second?.ticks ?? 0)) return first.pid;
  }
  throw new Error("The renderer of this tab could not be told apart: is another tab busy?");
}

// Only descendants of this test: no other browser of this machine is ever looked at.
const renderers = (): number[] => processesBelow(process.pid, "--type=renderer");
