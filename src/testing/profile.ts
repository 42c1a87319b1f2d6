/** One browser on one folder: what its tabs share (OPFS, locks, channels), and what outlives the browser. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, BrowserType } from "@playwright/test";
import { processesBelow } from "./browser-processes.js";

type PersistentOptions = NonNullable<Parameters<BrowserType["launchPersistentContext"]>[1]>;

export interface Profile {
  readonly browserName: string;
  /** Another one after each restart. */
  readonly context: BrowserContext;
  /** Closes the browser and launches it again on the same folder; tabs opened before are gone. */
  restart(): Promise<void>;
  /** Kills all processes of the browser at once, then launches it again on the same folder. Linux only. */
  killAndRestart(): Promise<void>;
  /** Closes the browser and removes the folder. */
  close(): Promise<void>;
}

/**
 * Launches a browser on a new folder of its own. The contexts that Playwright makes by itself are incognito: they say
 * nothing about what lasts. Tabs get a process each and the back/forward cache, which Playwright turns off.
 *
 * @param options of `launchPersistentContext`, e.g. an executable path
 *
 * @example
 * const profile = await openProfile(chromium);
 * const tab = await profile.context.newPage();
 */
export async function openProfile(browserType: BrowserType, options: PersistentOptions = {}): Promise<Profile> {
  const folder = await mkdtemp(join(tmpdir(), "wakeful-profile-"));
  const launch = (): Promise<BrowserContext> =>
    browserType.launchPersistentContext(folder, withTabs(browserType, options));
  let context = await launch();
  return {
    browserName: browserType.name(),
    get context() {
      return context;
    },
    async restart() {
      await context.close();
      context = await launch();
    },
    async killAndRestart() {
      const closed = new Promise((resolve) => context.once("close", resolve));
      for (const pid of processesBelow(process.pid, folder)) process.kill(pid, "SIGKILL");
      await closed;
      context = await launch();
    },
    async close() {
      await context.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function withTabs(browserType: BrowserType, options: PersistentOptions): PersistentOptions {
  if (browserType.name() !== "chromium") return options;
  const { args = [], ignoreDefaultArgs = [] } = options;
  return {
    ...options,
    // Without these, tabs of one site may share a process, and killing one would kill the others.
    args: ["--site-per-process", "--renderer-process-limit=100", ...args],
    ignoreDefaultArgs: Array.isArray(ignoreDefaultArgs)
      ? ["--disable-back-forward-cache", ...ignoreDefaultArgs]
      : ignoreDefaultArgs,
  };
}
