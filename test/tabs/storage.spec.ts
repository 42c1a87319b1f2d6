/** Contract tabs 16 and 17: storage that is persisted, has vanished, or is full, as the tabs of an app see it. */
import type { Page } from "@playwright/test";
import { launchOptions } from "../../scripts/browsers.mjs";
import { openProfile } from "../../src/testing/index.js";
import { expect, test } from "./database-tabs.js";
import { appUrl, untilReady } from "./fixtures.js";

test("tabs 16: `persist: true` asks the browser, and storage() tells what came of it", async ({
  playwright,
  browserName,
}) => {
  const profile = await openProfile(playwright[browserName], {
    ...launchOptions(browserName),
    // In the place of the person whom Firefox asks.
    firefoxUserPrefs: { "dom.storageManager.prompt.testing": true, "dom.storageManager.prompt.testing.allow": true },
  });
  try {
    const tab = await profile.context.newPage();
    await tab.goto(appUrl());
    await untilReady(tab);
    const persisted = (): Promise<boolean> =>
      tab.evaluate(async () => {
        const report = await window.page.stores?.storage();
        return report?.kind === "opfs" && report.persisted;
      });
    await tab.evaluate(() => window.page.open({ name: "not asked" }).then(() => undefined));
    expect(await persisted()).toBe(false);
    if (browserName === "chromium") {
      // Chromium decides by itself, and for a site without a history against it.
      const devTools = await profile.context.newCDPSession(tab);
      const permission = { name: "persistent-storage" };
      await devTools.send("Browser.setPermission", {
        permission,
        setting: "granted",
        origin: new URL(appUrl()).origin,
      });
    }
    await tab.evaluate(() => window.page.open({ name: "asked", persist: true }).then(() => undefined));
    await expect.poll(persisted).toBe(true);
  } finally {
    await profile.close();
  }
});

test("tabs 16: a database that was there and has vanished is reported as lost, once, to who opens the next one", async ({
  profile,
}) => {
  const tab = await profile.openTab();
  const openAnew = (): Promise<string[]> =>
    tab.evaluate(async () => {
      const stores = await window.page.open({ name: "vanishing" });
      const told: string[] = [];
      stores.on("storage", ({ status }) => told.push(status));
      const counter = stores.store(window.page.Counter, "one");
      // A reply comes behind whatever is told to a new listener.
      await counter.update((draft) => void draft.count++);
      await stores.close();
      return told;
    });
  expect(await openAnew()).toEqual([]);
  expect(await openAnew()).toEqual([]);
  await tab.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    await root.removeEntry(".wakeful", { recursive: true });
  });
  expect(await openAnew()).toEqual(["lost"]);
  expect(await openAnew()).toEqual([]);
});

interface Filled {
  readonly acknowledged: number;
  readonly code: string | undefined;
  readonly cause: string | undefined;
}

/** Appends to one store until that is refused. */
function fill(tab: Page): Promise<Filled> {
  return tab.evaluate(async () => {
    const queue = window.page.stores?.store(window.page.Queue, "growing");
    for (let acknowledged = 0; ; acknowledged++) {
      const failure: unknown = await queue
        ?.update((draft) => void draft.waiting.push("x".repeat(50_000)))
        .then(() => null)
        .catch((error: unknown) => error);
      if (failure === null) continue;
      const { code, cause } = failure as { code?: string; cause?: Error };
      return { acknowledged, code, cause: cause && `${cause.name}: ${cause.message}` };
    }
  });
}

const length = (tab: Page): Promise<number | undefined> =>
  tab.evaluate(async () => (await window.page.stores?.store(window.page.Queue, "growing").get())?.state.waiting.length);

test("tabs 17: when storage is full the caller gets a typed error, nothing of the commit stays, the other tabs are told, and work goes on once there is room", async ({
  tabs,
  browserName,
}) => {
  // Only Chromium lets a test set a quota, over its debugging protocol.
  test.skip(browserName === "firefox", "Firefox has no quota that a test can set");
  const open = [await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  const owner = await tools.owner();
  const caller = open.find((tab) => tab !== owner) ?? owner;
  await owner.evaluate(() => {
    window.page.ended = new Promise((resolve) => {
      window.page.stores?.on("storage", ({ status, reason }) => resolve({ status, reason }));
    });
  });
  const usage = await caller.evaluate(async () => (await navigator.storage.estimate()).usage ?? 0);
  await tools.setQuota(usage + 3_000_000);
  try {
    const { acknowledged, code, cause } = await fill(caller);
    expect(code).toBe("storage-full");
    // Either the browser's own exception, or that of a write that took only a part.
    expect(cause).toMatch(/QuotaExceededError|Unknown write\(\) failure/);
    expect(await owner.evaluate(() => window.page.ended)).toMatchObject({ status: "full" });
    // Reading goes on, in every tab, and finds exactly what was acknowledged.
    for (const tab of open) expect(await length(tab)).toBe(acknowledged);
    await tools.setQuota(null);
    await caller.evaluate(async () => {
      await window.page.stores?.store(window.page.Queue, "growing").update((draft) => void draft.waiting.push("room"));
    });
    for (const tab of open) expect(await length(tab)).toBe(acknowledged + 1);
    expect(await caller.evaluate(() => window.page.stores?.checkIntegrity())).toEqual({ status: "whole" });
  } finally {
    await tools.setQuota(null);
  }
});
