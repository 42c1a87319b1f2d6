/**
 * Finds and kills the operating system's process behind one tab. Chromium on Linux only: Firefox keeps all tabs of an
 * origin in one process.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "@playwright/test";

/** Without this, tabs of one site may share a process, and killing one would kill the others. */
export const PROCESS_PER_TAB = { args: ["--site-per-process", "--renderer-process-limit=100"] };

interface ProcessStatus {
  readonly parent: number;
  /** Clock ticks of processor time. */
  readonly busy: number;
}

function statusOf(pid: number): ProcessStatus | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces: count from behind it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), busy: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null; // It ended in the meantime.
  }
}

function renderersBelow(ancestor: number): number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const parents = new Map(pids.map((pid) => [pid, statusOf(pid)?.parent]));
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
      if (at === ancestor) return true;
    }
    return false;
  };
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer") && isBelow(pid);
    } catch {
      return false;
    }
  });
}

/** The process of this tab's page and its workers: the one that becomes busy when the page is told to burn time. */
export async function rendererOf(page: Page): Promise<number> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const before = new Map(renderersBelow(process.pid).map((pid) => [pid, statusOf(pid)?.busy ?? 0]));
    await page.evaluate(() => {
      const until = performance.now() + 250;
      while (performance.now() < until);
    });
    const grown = [...before].map(([pid, busy]) => ({ pid, grown: (statusOf(pid)?.busy ?? 0) - busy }));
    grown.sort((a, b) => b.grown - a.grown);
    const [first, second] = grown;
    // 250 ms are 25 ticks; anything else in the browser must stay clearly below.
    if (first !== undefined && first.grown >= 15 && first.grown > 2 * (second?.grown ?? 0)) return first.pid;
  }
  throw new Error("The renderer of this tab could not be told apart: is another tab busy?");
}

export async function killRenderer(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
}
