/** Tabs that have one database open, by the tools that apps test with, and a log that outlives all tabs. */
import type { BrowserContext, Page } from "@playwright/test";
import { DatabaseTabs } from "../../src/testing/index.js";
import { appUrl, test as base, untilReady } from "./fixtures.js";

export { expect } from "./fixtures.js";

export interface TestTabs {
  readonly name: string;
  /** What pages under load acknowledged, in the order in which it arrived here. */
  readonly log: readonly string[];
  /** The tools for the browser as it was launched last. */
  tools(): Promise<DatabaseTabs>;
  /** Opens a tab and the database in it. */
  open(options?: { readonly durability?: "strict" | "relaxed"; readonly ownerTimeout?: number }): Promise<Page>;
  /** Waits until `done` is true of the log. */
  until(done: (log: readonly string[]) => boolean): Promise<void>;
}

interface Fixtures {
  tabs: TestTabs;
}

export const test = base.extend<Fixtures>({
  tabs: async ({ profile }, use) => {
    const name = `tabs-${crypto.randomUUID()}`;
    const log: string[] = [];
    let look = (): void => undefined;
    const note = (entry: string): void => {
      log.push(entry);
      look();
    };
    const prepared = new Map<BrowserContext, DatabaseTabs>();
    const tools = async (): Promise<DatabaseTabs> => {
      const { context } = profile;
      const known = prepared.get(context);
      if (known !== undefined) return known;
      const opened = await DatabaseTabs.in(context, { name, url: appUrl(), ready: untilReady });
      prepared.set(context, opened);
      await context.exposeFunction("acknowledge", note);
      return opened;
    };
    await use({
      name,
      log,
      tools,
      async open(options = {}) {
        const page = await (await tools()).open();
        await page.evaluate((given) => window.page.open(given).then(() => undefined), { name, ...options });
        return page;
      },
      until: (done) =>
        new Promise((resolve) => {
          look = () => {
            if (done(log)) resolve();
          };
          look();
        }),
    });
    for (const [context, tabs] of prepared) if (context === profile.context) await tabs.end();
  },
});

/** The ways in which an owner goes. Each is real: nothing is told to the library beforehand. */
export const departures = {
  /** The process is killed. Chromium only: in Firefox tabs of one origin share a process. */
  kill: (tools: DatabaseTabs, tab: Page) => tools.kill(tab),
  close: (tools: DatabaseTabs, tab: Page) => tools.close(tab),
  navigate: (tools: DatabaseTabs, tab: Page) => tools.leave(tab),
  /** The worker is terminated under the page, which lives on. */
  terminate: (tools: DatabaseTabs, tab: Page) => tools.terminateWorker(tab),
} as const;

export type Departure = keyof typeof departures;
