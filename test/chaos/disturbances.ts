/** What befalls the tabs of a run, at random. */
import type { Page } from "@playwright/test";
import type { DatabaseTabs, Profile } from "../../src/testing/index.js";
import type { Random } from "./random.js";

/** What a disturbance leaves behind: the tab is there as it was, is loaded anew, or is gone; or all of them are. */
export type Aftermath = "same" | "reloaded" | "gone" | "all-gone";

export interface Disturbance {
  /** How often, beside the others. */
  readonly weight: number;
  /** Whether the owner, if it is the target, loses the database by it. */
  readonly departs: boolean;
  /** Must call `departed` in the moment in which the target is no longer there. */
  readonly run: (target: Target, departed: () => void) => Promise<Aftermath>;
}

export interface Target {
  readonly tabs: DatabaseTabs;
  readonly profile: Profile;
  readonly page: Page;
  readonly random: Random;
}

const later = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const kill: Disturbance = {
  weight: 5,
  departs: true,
  async run({ tabs, page }, departed) {
    page.once("crash", departed);
    await tabs.kill(page);
    await tabs.close(page);
    return "gone";
  },
};

const crash: Disturbance = {
  weight: 1,
  departs: true,
  async run({ tabs, page }, departed) {
    page.once("crash", departed);
    await tabs.crash(page);
    await tabs.close(page);
    return "gone";
  },
};

const close: Disturbance = {
  weight: 3,
  departs: true,
  async run({ tabs, page }, departed) {
    departed();
    await tabs.close(page);
    return "gone";
  },
};

const reload: Disturbance = {
  weight: 2,
  departs: true,
  async run({ page }, departed) {
    departed();
    await page.reload();
    return "reloaded";
  },
};

const leaveAndReturn: Disturbance = {
  weight: 2,
  departs: true,
  async run({ tabs, page, random }, departed) {
    departed();
    await tabs.leave(page);
    await later(random.between(0, 300));
    const { restored } = await tabs.goBack(page);
    return restored ? "same" : "reloaded";
  },
};

const terminate: Disturbance = {
  weight: 3,
  departs: true,
  async run({ tabs, page }, departed) {
    departed();
    await tabs.terminateWorker(page);
    return "same";
  },
};

const reopen: Disturbance = {
  weight: 1,
  departs: true,
  async run({ page }, departed) {
    departed();
    await page.evaluate(() => window.chaos.reopen());
    return "same";
  },
};

const freeze: Disturbance = {
  weight: 2,
  departs: false,
  async run({ tabs, page, random }) {
    await tabs.freeze(page);
    await later(random.between(200, 1500));
    tabs.thaw(page);
    return "same";
  },
};

const loseEvents: Disturbance = {
  weight: 2,
  departs: false,
  async run({ tabs, page, random }) {
    await tabs.interfere(page, { channel: "events", times: random.between(1, 100) });
    return "same";
  },
};

const delayMessages: Disturbance = {
  weight: 3,
  departs: false,
  async run({ tabs, page, random }) {
    await tabs.interfere(page, { delay: random.between(20, 500), times: random.between(1, 200) });
    return "same";
  },
};

const killBrowser: Disturbance = {
  weight: 1,
  departs: true,
  async run({ profile }, departed) {
    departed();
    await profile.killAndRestart();
    return "all-gone";
  },
};

/** By browser: what it can do (src/testing/README.md). */
export const disturbances: Readonly<Record<string, Readonly<Record<string, Disturbance>>>> = {
  chromium: { kill, crash, close, reload, leaveAndReturn, terminate, reopen, freeze, loseEvents, delayMessages },
  firefox: { close, reload, leaveAndReturn, terminate, reopen, killBrowser, loseEvents, delayMessages },
};
