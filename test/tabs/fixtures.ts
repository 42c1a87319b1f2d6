/**
 * Fixtures of the tab tests. `profile` is one browser on one folder of its own: its tabs share an origin's OPFS, locks
 * and channels, and the folder outlives a restart of the browser. Nothing else may be closed or killed by a test.
 */
import { test as base, expect, type Page } from "@playwright/test";
import { launchOptions } from "../../scripts/browsers.mjs";
import { openProfile, type Profile } from "../../src/testing/index.js";

export { expect };

/** One browser on one folder. */
export interface BrowserProfile extends Profile {
  /** Opens a tab on the test page and waits until its module has run. `path` is added to the address, e.g. `?name=x`. */
  openTab(path?: string): Promise<Page>;
}

export const test = base.extend<{ profile: BrowserProfile }>({
  profile: async ({ playwright, browserName }, use) => {
    const profile = await openProfile(playwright[browserName], launchOptions(browserName));
    const openTab = async (path = ""): Promise<Page> => {
      const page = await profile.context.newPage();
      await page.goto(appUrl() + path);
      await untilReady(page);
      return page;
    };
    await use(Object.assign(profile, { openTab }));
    await profile.close();
  },
});

/** Waits until the module of the test page has run. */
export async function untilReady(page: Page): Promise<void> {
  await page.locator("html[data-ready=true]").waitFor({ state: "attached" });
}

/** The address of the test page, which the web server of playwright.config.ts announces. */
export function appUrl(): string {
  const url = process.env["TABS_APP_URL"];
  if (url === undefined) throw new Error("TABS_APP_URL is not set: run the tab tests with `playwright test`.");
  return url;
}
