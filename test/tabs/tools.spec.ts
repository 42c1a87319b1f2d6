/** The tools of wakeful/testing themselves, by the cases in which apps need them. What a browser cannot do is skipped. */
import type { Page } from "@playwright/test";
import { expect, test } from "./database-tabs.js";

function increment(tab: Page): Promise<number | undefined> {
  return tab.evaluate(
    async () =>
      (await window.page.stores?.store(window.page.Counter, "one").update((draft) => void draft.count++))?.version,
  );
}

const one = { storeName: "counter", storeId: "one" };

test("the owner is told by its lock, and how the database stands by its own answer", async ({ tabs }) => {
  const open = [await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  for (const tab of open) await increment(tab);
  const owner = await tools.owner();
  expect(await owner.evaluate(() => window.page.stores?.session)).toBe(tools.sessionOf(owner));
  const state = await tools.state();
  expect(state).toMatchObject({ host: tools.sessionOf(owner), sequence: 2, storage: "opfs" });
  await tools.untilSequence(2);
  expect(await tools.readStore(one)).toMatchObject({ version: 2, state: '{"count":2}' });
  expect(await tools.readStore({ ...one, storeId: "none" })).toBeNull();
  expect((await tools.changes()).map(({ version, origin }) => [version, origin])).toEqual(
    open.map((tab, index) => [index + 1, tools.sessionOf(tab)]),
  );
});

test("a receipt and a wake are read without touching them", async ({ tabs }) => {
  const tab = await tabs.open();
  const tools = await tabs.tools();
  const step = { executionId: "execution", stepKey: "step" };
  await tab.evaluate(async (stepId) => {
    const { stores, Counter } = window.page;
    if (stores === null) return;
    const counter = stores.store(Counter, "one");
    const { instanceId, version } = await counter.get();
    await stores.registerWaiter({
      workflowId: "workflow",
      executionId: "sleeper",
      stepKey: "wait",
      storeName: "counter",
      storeId: "one",
      instanceId,
      sinceVersion: version,
      readPaths: [["count"]],
    });
    await counter.update((draft) => void draft.count++, { stepId });
  }, step);
  expect(await tools.receipt({ ...one, ...step })).toMatchObject({ status: "already-applied", operation: "update" });
  expect(await tools.receipt({ ...one, ...step, stepKey: "other" })).toEqual({ status: "not-applied" });
  expect(await tools.untilWake("sleeper")).toMatchObject({ workflowId: "workflow", executionId: "sleeper" });
  // Still there for the app.
  const executionId = await tab.evaluate(async () => {
    for await (const wake of window.page.stores?.wakes() ?? []) return wake.executionId;
    return null;
  });
  expect(executionId).toBe("sleeper");
});

test("commit events that are dropped in one tab do not keep it from finding out what was committed", async ({
  tabs,
}) => {
  const [writer, deaf] = [await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  const stop = await tools.interfere(deaf, { channel: "events", types: ["commit"], direction: "received" });
  const wait = deaf.evaluate(() =>
    window.page.stores?.store(window.page.Counter, "one").when((s) => s.count === 2 && s.count),
  );
  await increment(writer);
  await increment(writer);
  expect(await wait).toBe(2); // By the sweep: no event got through.
  expect(await tools.heldMessages(deaf)).toBeGreaterThanOrEqual(2);
  await stop();
});

test("commit events that are late in one tab arrive there, and never turn its view back", async ({ tabs }) => {
  const [writer, late] = [await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  await late.evaluate(() => {
    const { stores, Counter, notes } = window.page;
    stores?.store(Counter, "one").watch(
      (state) => state.count,
      (count) => void notes.push(count),
    );
  });
  await tools.interfere(late, { channel: "events", types: ["commit"], direction: "received", delay: 300, times: 1 });
  await increment(writer); // Late.
  await increment(writer); // At once, and before the first.
  await increment(writer);
  await late.waitForFunction(() => window.page.notes.at(-1) === 3);
  const seen = await late.evaluate(() => window.page.notes as number[]);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});

test("a call whose message is dropped on its way is sent again", async ({ tabs }) => {
  const [first, second] = [await tabs.open({ ownerTimeout: 1500 }), await tabs.open({ ownerTimeout: 1500 })];
  const tools = await tabs.tools();
  const owner = await tools.owner();
  const other = owner === first ? second : first;
  // Both ways of the other tab: hello finds no owner until the rule ends, so that only the channel of calls is used.
  await tools.interfere(other, { channel: "calls", times: 1 });
  expect(await increment(other)).toBe(1);
  expect(await increment(owner)).toBe(2);
});

test("a tab that left comes back from the back/forward cache where the browser keeps it, and goes on", async ({
  tabs,
  browserName,
}) => {
  const [first, second] = [await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  await increment(first);
  const owner = await tools.owner();
  const other = owner === first ? second : first;
  await tools.leave(owner);
  expect(await increment(other)).toBe(2);
  const { restored } = await tools.goBack(owner);
  test.info().annotations.push({ type: "restored", description: String(restored) });
  if (browserName === "chromium") expect(restored).toBe(true);
  if (restored) expect(await increment(owner)).toBe(3);
});

test("a tab crashes, and another one takes over", async ({ tabs, browserName }) => {
  // Firefox has no such command, and runs all tabs of an origin in one process.
  test.skip(browserName === "firefox", "Only Chromium can be told to crash one tab");
  const [first, second] = [await tabs.open(), await tabs.open()];
  const tools = await tabs.tools();
  await increment(first);
  const owner = await tools.owner();
  const { epoch } = await tools.state();
  await tools.crash(owner);
  await tools.untilOwner(epoch);
  const other = owner === first ? second : first;
  expect(await tools.owner()).toBe(other);
  expect(await increment(other)).toBe(2);
});

test("a quota that is used up makes writes fail with their typed error until it is lifted", async ({
  tabs,
  browserName,
}) => {
  // Firefox's quota follows from the size of the disk.
  test.skip(browserName === "firefox", "Only Chromium lets a test set the quota");
  const tab = await tabs.open();
  const tools = await tabs.tools();
  await increment(tab);
  await tools.setQuota(1);
  const code = await tab.evaluate(async () => {
    const { stores, Queue, library } = window.page;
    try {
      for (let round = 0; round < 50; round++) {
        await stores?.store(Queue, String(round)).update((draft) => void draft.waiting.push("x".repeat(1_000_000)));
      }
      return "all were written";
    } catch (error) {
      return error instanceof library.WakefulError ? error.code : String(error);
    }
  });
  expect(code).toBe("storage-full");
  await tools.setQuota(null);
  expect(await increment(tab)).toBe(2);
});

test("two tabs at two addresses of one origin share the database", async ({ tabs }) => {
  const first = await tabs.open();
  const tools = await tabs.tools();
  const second = await tools.open("?build=2");
  await second.evaluate((name) => window.page.open({ name }).then(() => undefined), tabs.name);
  await increment(first);
  expect(await increment(second)).toBe(2);
});
