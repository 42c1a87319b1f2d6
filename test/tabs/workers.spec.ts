/** Contract tabs 21: workers and service workers of an app are clients, and leave owning to its pages. */
import type { Page } from "@playwright/test";
import { expect, test } from "./database-tabs.js";
import { appUrl } from "./fixtures.js";

const kinds = ["worker", "service worker"] as const;

const countIn = (page: Page, kind: (typeof kinds)[number], name: string): Promise<unknown> =>
  page.evaluate(([as, database]) => window.page.countInWorker(as, database), [kind, name] as const);

for (const kind of kinds) {
  test(`tabs 21: a ${kind} of the app reads and writes what its pages do`, async ({ tabs }) => {
    const page = await tabs.open();
    await page.evaluate(async () => {
      await window.page.stores?.store(window.page.Counter, "one").update((draft) => void (draft.count = 41));
    });
    expect(await countIn(page, kind, tabs.name)).toBe(42);
    const seen = await page.evaluate(
      async () => (await window.page.stores?.store(window.page.Counter, "one").get())?.state.count,
    );
    expect(seen).toBe(42);
  });

  test(`tabs 21: a ${kind} without any page that could own gets a typed error`, async ({ profile }) => {
    const page = await profile.openTab();
    expect(page.url()).toContain(appUrl());
    expect(await countIn(page, kind, `nobody-${crypto.randomUUID()}`)).toBe("no-owner");
  });
}
