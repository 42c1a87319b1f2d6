/**
 * The operating system's processes of a browser: those of a whole profile, and the one behind one tab. Only a browser
 * that this process has launched is ever found.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { CDPSession, Page } from "@playwright/test";

function read(pid: number, file: "stat" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // It ended in the meantime.
  }
}

function parentOf(pid: number): number {
  const text = read(pid, "stat");
  // The name in parentheses may hold spaces: count from behind it.
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
}

/** The descendants of `ancestor` whose command line contains `text`. Linux only. */
export function processesBelow(ancestor: number, text: string): number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number): boolean => {
    for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) {
      if (at === ancestor) return true;
    }
    return false;
  };
  return pids.filter((pid) => read(pid, "cmdline").includes(text) && isBelow(pid));
}

/** What Chromium's trace says of a frame when tracing begins. */
interface TracedFrame {
  readonly frame: string;
  readonly url: string;
  readonly processId: number;
}

/**
 * The process that runs this tab's page and its workers. Chromium only: in Firefox all tabs of an origin share one.
 * The browser itself says so, at the beginning of a trace, in some 100 ms; a frozen tab makes it wait.
 */
export async function processOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send("Page.getFrameTree");
    const frames = await tracedFrames(session);
    // A page in the back/forward cache is listed with the frame of the one that is shown.
    const own = frames.filter(({ frame }) => frame === frameTree.frame.id);
    const shown = own.find(({ url }) => url === frameTree.frame.url) ?? own[0];
    if (shown === undefined) throw new Error("The browser did not say which process runs this tab.");
    return shown.processId;
  } finally {
    await session.detach();
  }
}

async function tracedFrames(session: CDPSession): Promise<readonly TracedFrame[]> {
  const frames: TracedFrame[] = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    for (const event of value) {
      // The protocol types a trace event as a bag of anything; this one event has its frames here.
      const { name, args } = event as unknown as { name?: string; args?: { data?: { frames?: TracedFrame[] } } };
      if (name === "TracingStartedInBrowser") frames.push(...(args?.data?.frames ?? []));
    }
  });
  const complete = new Promise<void>((resolve) => session.once("Tracing.tracingComplete", () => resolve()));
  await session.send("Tracing.start", {
    traceConfig: { includedCategories: ["disabled-by-default-devtools.timeline"], excludedCategories: ["*"] },
    transferMode: "ReportEvents",
  });
  await session.send("Tracing.end");
  await complete;
  return frames;
}
