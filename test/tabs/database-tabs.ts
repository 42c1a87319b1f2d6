/** Tabs that have one database open: finding its owner, ending it in every way, and a log that outlives all tabs. */
import type { Page } from "@playwright/test";
import { type BrowserProfile, test as base } from "./fixtures.js";
import { rendererOf } from "./renderer.js";

export { expect } from "./fixtures.js";

export interface DatabaseTabs {
  readonly name: string;
  /** What pages under load acknowledged, in the order in which it arrived here. */
  readonly log: readonly string[];
  /** Opens a tab and the database in it. */
  open(options?: { readonly durability?: "strict" | "relaxed"; readonly ownerTimeout?: number }): Promise<Page>;
  /** The tab whose worker owns the database. Waits until the tabs agree. */
  owner(tabs: readonly Page[]): Promise<Page>;
  /** Waits until `done` is true of the log. */
  until(done: (log: readonly string[]) => boolean): Promise<void>;
}

interface Fixtures {
  tabs: DatabaseTabs;
}

export const test = base.extend<Fixtures>({
  tabs: async ({ profile }, use) => {
    const name = `tabs-${crypto.randomUUID()}`;
    const log: string[] = [];
    let look = (): void => undefined;
    const open = openIn(profile, name, (entry) => {
      log.push(entry);
      look();
    });
    await use({
      name,
      log,
      open,
      owner: (tabs) => ownerAmong(tabs),
      until: (done) =>
        new Promise((resolve) => {
          look = () => {
            if (done(log)) resolve();
          };
          look();
        }),
    });
  },
});

function openIn(
  profile: BrowserProfile,
  name: string,
  note: (entry: string) => void,
): (options?: Parameters<DatabaseTabs["open"]>[0]) => Promise<Page> {
  return async (options = {}) => {
    const page = await profile.openTab();
    await page.exposeFunction("acknowledge", note);
    await page.evaluate((given) => window.page.open(given).then(() => undefined), { name, ...options });
    return page;
  };
}

async function ownerAmong(tabs: readonly Page[]): Promise<Page> {
  for (;;) {
    // A call that is answered has gone through the present owner, so that what a tab knows of it is not old.
    const seen = await Promise.all(
      tabs.map((tab) =>
        tab.evaluate(async () => {
          await window.page.stores?.storage();
          return { owner: window.page.owner, self: window.page.stores?.session };
        }),
      ),
    );
    const epoch = Math.max(...seen.map(({ owner }) => owner?.epoch ?? 0));
    const host = seen.findIndex(({ owner, self }) => owner?.epoch === epoch && owner.host === self);
    const tab = tabs[host];
    if (tab !== undefined) return tab;
  }
}

/** The ways in which an owner goes. Each is real: nothing is told to the library beforehand. */
export const departures = {
  /** The process is killed. Chromium only: in Firefox tabs of one origin share a process. */
  kill: async (tab: Page) => void process.kill(await rendererOf(tab), "SIGKILL"),
  close: (tab: Page) => tab.close(),
  navigate: async (tab: Page) => void (await tab.goto("about:blank")),
  /** The worker is terminated under the page, which lives on. */
  terminate: (tab: Page) => tab.evaluate(() => window.page.workers.at(-1)?.terminate()),
} as const;

export type Departure = keyof typeof departures;
