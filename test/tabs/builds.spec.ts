/** Contract tabs 13 and 14: builds of an app that differ, side by side on one origin. */
import type { Page } from "@playwright/test";
import { type BrowserProfile, expect, test } from "./fixtures.js";

type Build = "" | "newer-protocol/" | "newer-schema/" | "compatible-schema/";

async function openBuild(profile: BrowserProfile, build: Build): Promise<Page> {
  return profile.openTab(build);
}

/** Opens the database in the page. Answers "opened", or the code of the error. */
function openStores(page: Page, name: string): Promise<string> {
  return page.evaluate(async (given) => {
    try {
      const stores = await window.page.open({ name: given, ownerTimeout: 5000 });
      stores.on("outdated", ({ error }) => window.page.notes.push(error.code));
      return "opened";
    } catch (error) {
      return error instanceof window.page.library.WakefulError ? error.code : String(error);
    }
  }, name);
}

function increment(page: Page): Promise<number | string | undefined> {
  return page.evaluate(async () => {
    try {
      const counter = window.page.stores?.store(window.page.Counter, "one");
      return (await counter?.update((draft) => void draft.count++))?.state.count;
    } catch (error) {
      return error instanceof window.page.library.WakefulError ? error.code : String(error);
    }
  });
}

test("tabs 13: builds that can live together share one database, whichever owns it", async ({ profile }) => {
  const name = `builds-${crypto.randomUUID()}`;
  const older = await openBuild(profile, "");
  const newer = await openBuild(profile, "compatible-schema/");
  expect(await openStores(older, name)).toBe("opened");
  expect(await openStores(newer, name)).toBe("opened");
  expect(await increment(older)).toBe(1);
  expect(await increment(newer)).toBe(2);
  await older.close();
  // The newer one owns and migrates now; an older tab that comes then can still use what it made.
  expect(await increment(newer)).toBe(3);
  const late = await openBuild(profile, "");
  expect(await openStores(late, name)).toBe("opened");
  expect(await increment(late)).toBe(4);
  await newer.close();
  expect(await increment(late)).toBe(5);
});

for (const build of ["newer-protocol/", "newer-schema/"] as const) {
  test(`tabs 13: when an incompatible newer build arrives (${build}), the older one hands over with certain outcomes`, async ({
    profile,
  }) => {
    const name = `builds-${crypto.randomUUID()}`;
    const older = [await openBuild(profile, ""), await openBuild(profile, "")];
    for (const page of older) expect(await openStores(page, name)).toBe("opened");
    // Both tabs of the older build write without a pause while the newer build arrives.
    const outcomes = older.map((page) =>
      page.evaluate(async () => {
        const counter = window.page.stores?.store(window.page.Counter, "one");
        for (let acknowledged = 0; ; acknowledged++) {
          try {
            await counter?.update((draft) => void draft.count++);
          } catch (error) {
            return {
              acknowledged,
              code: error instanceof window.page.library.WakefulError ? error.code : String(error),
            };
          }
        }
      }),
    );
    const newer = await openBuild(profile, build);
    expect(await openStores(newer, name)).toBe("opened");
    const ended = await Promise.all(outcomes);
    expect(ended.map(({ code }) => code)).toEqual(["client-outdated", "client-outdated"]);
    const acknowledged = ended.reduce((sum, tab) => sum + tab.acknowledged, 0);
    // Certain: what was acknowledged was applied, and what was refused was not.
    expect(await increment(newer)).toBe(acknowledged + 1);
    // The app hears once that it should reload, and later calls are refused at once.
    for (const page of older) {
      expect(await increment(page)).toBe("client-outdated");
      expect(await page.evaluate(() => window.page.notes)).toEqual(["client-outdated"]);
    }
    // Their workers stand in nobody's way: the database can change hands among newer tabs.
    const next = await openBuild(profile, build);
    expect(await openStores(next, name)).toBe("opened");
    await newer.close();
    expect(await increment(next)).toBe(acknowledged + 2);
  });
}

test("tabs 13: an older build that arrives beside an incompatible newer one is refused, and the newer goes on", async ({
  profile,
}) => {
  const name = `builds-${crypto.randomUUID()}`;
  const newer = await openBuild(profile, "newer-protocol/");
  expect(await openStores(newer, name)).toBe("opened");
  const older = await openBuild(profile, "");
  expect(await openStores(older, name)).toBe("client-outdated");
  expect(await increment(newer)).toBe(1);
});

test("tabs 14: a deployment that was rolled back refuses the newer database and writes nothing into it", async ({
  profile,
}) => {
  const name = `builds-${crypto.randomUUID()}`;
  const newer = await openBuild(profile, "newer-schema/");
  expect(await openStores(newer, name)).toBe("opened");
  expect(await increment(newer)).toBe(1);
  await newer.close();
  const rolledBack = await openBuild(profile, "");
  expect(await openStores(rolledBack, name)).toBe("database-newer");
  await rolledBack.close();
  const again = await openBuild(profile, "newer-schema/");
  expect(await openStores(again, name)).toBe("opened");
  expect(await increment(again)).toBe(2);
});
