/** Contract tabs 1, 4, 5, 6: one owner, its loss, and no call that hangs. */
import { type Departure, departures, expect, test } from "./database-tabs.js";

for (const departure of Object.keys(departures) as Departure[]) {
  test(`tabs 4: when the owner goes (${departure}), another tab owns the database and every client goes on`, async ({
    tabs,
    browserName,
  }) => {
    // In Firefox, killing one tab's process kills them all (tabs.md): the whole browser is killed in kills.spec.ts.
    test.skip(departure === "kill" && browserName === "firefox", "Firefox runs all tabs of an origin in one process");
    const open = [await tabs.open(), await tabs.open(), await tabs.open()];
    const tools = await tabs.tools();
    const owner = await tools.owner();
    const others = open.filter((tab) => tab !== owner);
    await owner.evaluate(async () => {
      await window.page.stores?.store(window.page.Counter, "one").update((draft) => void (draft.count = 7));
    });
    // A wait that begins before the owner goes ends after it is gone.
    const waits = others.map((tab) =>
      tab.evaluate(() => window.page.stores?.store(window.page.Counter, "one").when((s) => s.count === 8 && s.count)),
    );

    const { epoch } = await tools.state();
    const since = Date.now();
    await departures[departure](tools, owner);
    const states = await Promise.all(
      others.map((tab) =>
        tab.evaluate(async () => (await window.page.stores?.store(window.page.Counter, "one").get())?.state.count),
      ),
    );
    const handOver = Date.now() - since;
    expect(states).toEqual([7, 7]);
    test.info().annotations.push({ type: "hand-over", description: `${handOver} ms with the departure itself` });
    expect(handOver).toBeLessThan(10 * 3000);

    const { host } = await tools.untilOwner(epoch);
    const alive = departure === "terminate" ? open : others;
    expect(alive.map((tab) => tools.sessionOf(tab))).toContain(host);
    await others[0]?.evaluate(async () => {
      await window.page.stores?.store(window.page.Counter, "one").update((draft) => void draft.count++);
    });
    expect(await Promise.all(waits)).toEqual([8, 8]);
  });
}

test("tabs 4: a page whose only worker was terminated goes on with a new one", async ({ tabs }) => {
  const tab = await tabs.open();
  await tab.evaluate(async () => {
    await window.page.stores?.store(window.page.Counter, "one").update((draft) => void (draft.count = 7));
  });
  await (await tabs.tools()).terminateWorker(tab);
  expect(
    await tab.evaluate(async () => (await window.page.stores?.store(window.page.Counter, "one").get())?.state.count),
  ).toBe(7);
});

test("tabs 1: a database that nobody has open is opened anew, with all its data, after the browser restarts", async ({
  tabs,
  profile,
}) => {
  const first = await tabs.open();
  await first.evaluate(async () => {
    await window.page.stores?.store(window.page.Counter, "one").update((draft) => void (draft.count = 7));
  });
  await profile.restart();
  const second = await tabs.open();
  expect(
    await second.evaluate(async () => (await window.page.stores?.store(window.page.Counter, "one").get())?.state.count),
  ).toBe(7);
});

test("tabs 6: calls to an owner that is frozen end with a typed error after the bound that the app set", async ({
  tabs,
  browserName,
}) => {
  // In Firefox, stopping one tab's process stops them all, the one that asks included.
  test.skip(browserName === "firefox", "Firefox runs all tabs of an origin in one process: it cannot be stopped alone");
  const open = [await tabs.open({ ownerTimeout: 1500 }), await tabs.open({ ownerTimeout: 1500 })];
  const tools = await tabs.tools();
  const owner = await tools.owner();
  const other = open.find((tab) => tab !== owner);
  await tools.freeze(owner);
  try {
    const code = await other?.evaluate(async () => {
      const counter = window.page.stores?.store(window.page.Counter, "one");
      const outcome = await counter?.get().catch((error: unknown) => error);
      return outcome instanceof window.page.library.WakefulError ? outcome.code : outcome;
    });
    expect(code).toBe("owner-unresponsive");
  } finally {
    tools.thaw(owner);
  }
  // Once it is back, calls are answered again.
  expect(
    await other?.evaluate(async () => (await window.page.stores?.store(window.page.Counter, "one").get())?.version),
  ).toBe(0);
});
