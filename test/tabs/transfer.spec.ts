/** Contract tabs 19: exports and imports among several tabs, while others write and while owners go. */
import type { Page } from "@playwright/test";
import { launchOptions } from "../../scripts/browsers.mjs";
import { openProfile } from "../../src/testing/index.js";
import { expect, test } from "./database-tabs.js";
import { appUrl, untilReady } from "./fixtures.js";

/** Some megabytes, so that an export takes many slices. One commit. */
async function pad(tab: Page): Promise<void> {
  await tab.evaluate(async () => {
    const queue = window.page.stores?.store(window.page.Queue, "padding");
    await queue?.update((draft) => {
      for (let n = 0; n < 60; n++) draft.waiting.push(`${n}`.padEnd(100_000, "x"));
    });
  });
}

/** Counts two stores of this tab up in one commit, again and again, until `counting` is false. */
async function startCounting(tab: Page, label: number): Promise<void> {
  await tab.evaluate((given) => {
    const { stores, Counter } = window.page;
    if (stores === null) return;
    const [left, right] = [stores.store(Counter, `left ${given}`), stores.store(Counter, `right ${given}`)];
    window.page.ended = (async () => {
      while (window.page.counting) {
        await stores.transact({ left, right }, (drafts) => {
          drafts.left.count++;
          drafts.right.count++;
        });
      }
    })();
  }, label);
}

const counts = (tab: Page): Promise<{ left: number; right: number; padding: number }> =>
  tab.evaluate(async () => {
    const { stores, Counter, Queue } = window.page;
    if (stores === null) throw new Error("The database is not open here.");
    const sums = { left: 0, right: 0 };
    for (const id of await stores.list(Counter)) {
      sums[id.startsWith("left") ? "left" : "right"] += (await stores.store(Counter, id).get()).state.count;
    }
    const padding = await stores.store(Queue, "padding").get();
    return { ...sums, padding: padding.state.waiting.length };
  });

test("tabs 19: an export while four tabs write, imported into another profile, is the database at one sequence", async ({
  tabs,
  playwright,
  browserName,
}) => {
  test.setTimeout(120_000);
  const open = [await tabs.open(), await tabs.open(), await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  const owner = await tools.owner();
  const exporting = open.find((tab) => tab !== owner) ?? owner;
  await pad(owner);
  for (const [label, tab] of open.entries()) await startCounting(tab, label);
  await expect.poll(async () => (await counts(exporting)).left).toBeGreaterThan(10);

  const exported = await exporting.evaluate(async () => {
    const { stores, Counter } = window.page;
    if (stores === null) throw new Error("The database is not open here.");
    const left = stores.store(Counter, "left 0");
    const before = (await left.get()).version;
    let sequence = 0;
    const stream = stores.export({ onProgress: (progress) => (sequence = progress.sequence) });
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const after = (await left.get()).version;
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return { text: btoa(text), sequence, before, after };
  });
  for (const tab of open) await tab.evaluate(() => (window.page.counting = false));
  for (const tab of open) await tab.evaluate(() => window.page.ended);
  // Writers went on under it: the sequence of the export lies between.
  expect(exported.after).toBeGreaterThan(exported.before + 1);

  const other = await openProfile(playwright[browserName], launchOptions(browserName));
  try {
    const tab = await other.context.newPage();
    await tab.goto(appUrl());
    await untilReady(tab);
    await tab.evaluate(async (encoded) => {
      const stores = await window.page.open({ name: "imported" });
      const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
      await stores.import(new Blob([bytes]));
    }, exported.text);
    const imported = await counts(tab);
    // One commit was the padding, every other one counted both.
    expect(imported).toEqual({ left: exported.sequence - 1, right: exported.sequence - 1, padding: 60 });
    expect(await tab.evaluate(() => window.page.stores?.checkIntegrity())).toEqual({ status: "whole" });
  } finally {
    await other.close();
  }
});

test("tabs 19: when the owner goes in the middle, an export fails with a typed error and an import changes nothing", async ({
  tabs,
}) => {
  test.setTimeout(120_000);
  const open = [await tabs.open(), await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  const first = await tools.owner();
  await pad(first);
  const [one] = open.filter((tab) => tab !== first);
  if (one === undefined) throw new Error("There is no other tab.");
  const begun = await one.evaluate(async () => {
    const { stores } = window.page;
    if (stores === null) throw new Error("The database is not open here.");
    window.page.notes.push(await new Response(stores.export()).blob());
    const reader = stores.export().getReader();
    window.page.notes.push(reader);
    return (await reader.read()).value?.length;
  });
  expect(begun).toBe(256 * 1024);
  const { epoch } = await tools.state();
  await tools.close(first);
  const ended = await one.evaluate(async () => {
    const [, reader] = window.page.notes as [Blob, ReadableStreamDefaultReader<Uint8Array>];
    return reader.read().then(
      () => "read on",
      (error: unknown) => (error as { code?: string }).code,
    );
  });
  expect(ended).toBe("transfer-interrupted");
  await tools.untilOwner(epoch);

  // An import of which half was sent. The worker of whoever owns goes; its page lives on.
  const second = await tools.owner();
  await one.evaluate(async () => {
    const { stores, Counter, notes } = window.page;
    if (stores === null) throw new Error("The database is not open here.");
    await stores.store(Counter, "left").update((draft) => void (draft.count = 7));
    const [file] = notes as [Blob];
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const writer = writable.getWriter();
    const half = 8 * 256 * 1024;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let hear = (): void => undefined;
    const received = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const importing = stores.import(readable, { onProgress: ({ done }) => done === half && hear() }).then(
      () => "imported",
      (error: unknown) => (error as { code?: string }).code,
    );
    await writer.write(bytes.subarray(0, half));
    await received;
    window.page.ended = (async () => {
      await new Promise((resolve) => addEventListener("go-on", resolve, { once: true }));
      await writer.write(bytes.subarray(half)).catch(() => undefined);
      await writer.close().catch(() => undefined);
      return importing;
    })();
  });
  await tools.terminateWorker(second);
  const outcome = await one.evaluate(async () => {
    dispatchEvent(new Event("go-on"));
    return window.page.ended;
  });
  expect(outcome).toBe("transfer-interrupted");
  expect(await counts(one)).toEqual({ left: 7, right: 0, padding: 60 });

  // Nothing is left over of it: the same file is taken now, and every tab has its content.
  await one.evaluate(async () => {
    const [file] = window.page.notes as [Blob];
    await window.page.stores?.import(file);
  });
  for (const tab of open.filter((each) => each !== first)) {
    expect(await counts(tab)).toEqual({ left: 0, right: 0, padding: 60 });
  }
});
