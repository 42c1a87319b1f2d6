import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.js";

test("two tabs of one browser share OPFS, and it outlives the browser", async ({ profile }) => {
  const first = await profile.openTab();
  const second = await profile.openTab();
  await writeFile(first, "written by the first tab");
  expect(await readFile(second)).toBe("written by the first tab");

  await profile.restart();
  expect(await readFile(await profile.openTab())).toBe("written by the first tab");
});

test("a lock that one tab holds is seen by another and falls free when its tab closes", async ({ profile }) => {
  const owner = await profile.openTab();
  const other = await profile.openTab();
  await owner.evaluate(
    () => new Promise<void>((held) => void navigator.locks.request("owner", () => (held(), new Promise(() => {})))),
  );
  expect(
    await other.evaluate(() => navigator.locks.request("owner", { ifAvailable: true }, (lock) => lock)),
  ).toBeNull();

  const takeover = other.evaluate(() => navigator.locks.request("owner", (lock) => lock?.name));
  await owner.close();
  expect(await takeover).toBe("owner");
});

async function writeFile(page: Page, text: string): Promise<void> {
  await page.evaluate(async (content) => {
    const root = await navigator.storage.getDirectory();
    const stream = await (await root.getFileHandle("note", { create: true })).createWritable();
    await stream.write(content);
    await stream.close();
  }, text);
}

function readFile(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    return (await (await root.getFileHandle("note")).getFile()).text();
  });
}
