/** What every packed app must do, in a real Chromium on a folder of its own: test/package/app is the app. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright";
import { launchOptions } from "./browsers.mjs";

const patience = 20_000;

/** Opens the app at `url` and runs its cases. What the page prints as an error fails the last of them. */
export async function checkNotes(cases, title, url) {
  const profile = mkdtempSync(join(tmpdir(), "wakeful-profile-"));
  const launch = () => chromium.launchPersistentContext(profile, launchOptions("chromium"));
  const complaints = [];
  let context = await launch();
  const openTab = async () => {
    const tab = await context.newPage();
    tab.setDefaultTimeout(patience);
    tab.on("pageerror", (error) => complaints.push(error.message));
    tab.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await tab.goto(url);
    return tab;
  };
  // A failed page says why by what it printed.
  const run = (name, work) =>
    cases.run(`${title}: ${name}`, async () => {
      try {
        await work();
        return true;
      } catch (error) {
        throw complaints.length > 0 ? new Error(`${error.message}\nThe page said: ${complaints.join("\n")}`) : error;
      }
    });

  let first;
  const opened = await run("the stores open on OPFS", async () => {
    first = await openTab();
    await first.locator("html[data-storage=opfs]").waitFor({ state: "attached" });
  });
  if (opened) await checkDurability();
  await context.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });

  async function checkDurability() {
    await run("a note is there after a reload", async () => {
      await add(first, "written by the first tab");
      await first.reload();
      await shown(first, "written by the first tab");
    });
    await run("a second tab has the note, and each sees at once what the other writes", async () => {
      const second = await openTab();
      await shown(second, "written by the first tab");
      await add(second, "written by the second tab");
      await shown(first, "written by the second tab");
      await add(first, "once more by the first tab");
      await shown(second, "once more by the first tab");
      // Without it calls go by BroadcastChannel: all works, and slower, so nothing else here would tell.
      assert.equal(await sharedWorkers(context), 1, "The bundle lost the broker");
    });
    await run("the notes are there after a restart of the browser, and no page complained", async () => {
      await context.close();
      context = await launch();
      const tab = await openTab();
      await shown(tab, "once more by the first tab");
      assert.deepEqual(await tab.locator("#notes > li").allTextContents(), [
        "written by the first tab",
        "written by the second tab",
        "once more by the first tab",
      ]);
      assert.deepEqual(complaints, []);
    });
  }
}

async function sharedWorkers(context) {
  const session = await context.browser().newBrowserCDPSession();
  const { targetInfos } = await session.send("Target.getTargets");
  await session.detach();
  return targetInfos.filter(({ type }) => type === "shared_worker").length;
}

async function add(tab, text) {
  await tab.locator("input").fill(text);
  await tab.locator("button").click();
  await shown(tab, text);
}

async function shown(tab, text) {
  await tab.locator("#notes > li", { hasText: text }).waitFor();
}
