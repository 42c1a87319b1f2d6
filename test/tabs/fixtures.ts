/**
 * Fixtures of the tab tests. `profile` is one browser on one folder of its own: its tabs share an origin's OPFS, locks
 * and channels, and the folder outlives a restart of the browser. Nothing else may be closed or killed by a test.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, test as base, type BrowserType, expect, type Page } from "@playwright/test";
import { launchOptions } from "../../scripts/browsers.mjs";
import { processesBelow } from "./processes.js";

export { expect };

/** Options of `launchPersistentContext` that a test file adds, e.g. `test.use({ launch: { args: ["--site-per-process"] } })`. */
export type LaunchAdditions = Pick<
  NonNullable<Parameters<BrowserType["launchPersistentContext"]>[1]>,
  "args" | "ignoreDefaultArgs" | "firefoxUserPrefs"
>;

/** One browser on one folder. */
export interface BrowserProfile {
  readonly context: BrowserContext;
  /** Opens a tab on the test page and waits until its module has run. `path` is added to the address, e.g. `?name=x`. */
  openTab(path?: string): Promise<Page>;
  /** Closes the browser and launches it again on the same folder; tabs opened before are gone. */
  restart(): Promise<void>;
  /** Kills all processes of the browser at once, then launches it again on the same folder. */
  killAndRestart(): Promise<void>;
}

export const test = base.extend<{ launch: LaunchAdditions; profile: BrowserProfile }>({
  launch: [{}, { option: true }],
  profile: async ({ playwright, browserName, launch }, use) => {
    const folder = await mkdtemp(join(tmpdir(), "wakeful-tabs-"));
    const open = () => {
      const options = launchOptions(browserName);
      return playwright[browserName].launchPersistentContext(folder, {
        ...options,
        ...launch,
        args: [...(options.args ?? []), ...(launch.args ?? [])],
      });
    };
    let context = await open();
    await use({
      get context() {
        return context;
      },
      async openTab(path = "") {
        const page = await context.newPage();
        await page.goto(appUrl() + path);
        await page.locator("html[data-ready=true]").waitFor({ state: "attached" });
        return page;
      },
      async restart() {
        await context.close();
        context = await open();
      },
      async killAndRestart() {
        const closed = new Promise((resolve) => context.once("close", resolve));
        for (const pid of processesBelow(process.pid, folder)) process.kill(pid, "SIGKILL");
        await closed;
        context = await open();
      },
    });
    await context.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  },
});

/** The address of the test page, which the web server of playwright.config.ts announces. */
export function appUrl(): string {
  const url = process.env["TABS_APP_URL"];
  if (url === undefined) throw new Error("TABS_APP_URL is not set: run the tab tests with `playwright test`.");
  return url;
}
