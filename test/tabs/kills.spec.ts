/**
 * The owner goes in the middle of commits, twenty times in a row, while every tab counts up without a pause. What was
 * acknowledged is written down outside of the browser and compared with the stores at the end.
 */
import type { Page } from "@playwright/test";
import { type Departure, departures, expect, test, type TestTabs } from "./database-tabs.js";

const KILLS = 20;

interface Entry {
  readonly label: string;
  readonly step: number;
  /** `null`: not acknowledged. */
  readonly version: number | null;
  readonly outcome: string;
  /** Of the owner that the tab knew when it wrote this down. */
  readonly epoch: number;
}

function parse(line: string): Entry {
  const [label = "", step, version, outcome = "", epoch] = line.split(" ");
  return {
    label,
    step: Number(step),
    version: version === "-" ? null : Number(version),
    outcome,
    epoch: Number(epoch),
  };
}

let labels = 0;

/** A tab that counts up with step ids (label s…) and without (label b…). */
async function openCounting(tabs: TestTabs): Promise<Page> {
  const tab = await tabs.open();
  const label = String(++labels);
  await tab.evaluate((given) => {
    const { stores, countUp } = window.page;
    if (stores === null) return;
    const counts = [countUp(stores, `s${given}`, true), countUp(stores, `b${given}`, false)];
    window.page.ended = Promise.all(counts);
  }, label);
  return tab;
}

/** Waits until so many acknowledgements came after everything written down so far. */
async function untilAcknowledged(tabs: TestTabs, count: number): Promise<void> {
  const from = tabs.log.length;
  await tabs.until((log) => log.slice(from).filter((line) => parse(line).version !== null).length >= count);
}

/** Milliseconds until some tab got an acknowledgement from an owner that is later than every one known so far. */
async function untilNextOwnerAnswers(tabs: TestTabs): Promise<number> {
  const since = Date.now();
  const from = tabs.log.length;
  const epoch = Math.max(...tabs.log.map((line) => parse(line).epoch));
  await tabs.until((log) =>
    log
      .slice(from)
      .map(parse)
      .some((entry) => entry.epoch > epoch && entry.version !== null),
  );
  return Date.now() - since;
}

/** Ends the load, so that what is read afterwards is compared with a log that grows no more. */
async function stopCounting(open: readonly Page[]): Promise<void> {
  for (const tab of open) {
    await tab.evaluate(async () => {
      window.page.counting = false;
      await window.page.ended;
    });
  }
}

async function check(tabs: TestTabs, reader: Page, departed: number): Promise<void> {
  const { steps, bare, changes } = await reader.evaluate(async () => {
    const { stores, Counter } = window.page;
    if (stores === null) throw new Error("The database is not open here.");
    const countOf = async (id: string) => (await stores.store(Counter, id).get()).state.count;
    const counts = { steps: await countOf("steps"), bare: await countOf("bare") };
    const read: { sequence: number; storeId: string; version: number }[] = [];
    const fence = await stores.store(Counter, "fence").update((draft) => void draft.count++);
    for await (const { sequence, storeId, version } of stores.changes({ after: 0 })) {
      read.push({ sequence, storeId, version });
      if (storeId === "fence" && version === fence.version) break;
    }
    return { ...counts, changes: read };
  });
  const entries = tabs.log.map(parse);
  const acknowledged = (kind: string) =>
    entries.filter(({ label, version }) => label.startsWith(kind) && version !== null);
  // Every call of a tab that lives ends with its outcome, whatever became of the owner.
  expect(entries.filter(({ version }) => version === null)).toEqual([]);

  // Each acknowledged one counted once. A tab that died may leave one that nobody was told of.
  for (const [kind, count] of [["s", steps] as const, ["b", bare] as const]) {
    const distinct = new Set(acknowledged(kind).map(({ label, step }) => `${label} ${step}`));
    expect(distinct.size).toBe(acknowledged(kind).length);
    expect(count).toBeGreaterThanOrEqual(distinct.size);
    expect(count).toBeLessThanOrEqual(distinct.size + departed);
  }

  // No version is acknowledged twice, the sequence has no gap, and versions of a store ascend by one.
  for (const kind of ["s", "b"]) {
    const versions = acknowledged(kind).map(({ version }) => version);
    expect(new Set(versions).size).toBe(versions.length);
  }
  expect(changes.map(({ sequence }) => sequence)).toEqual(changes.map((_, index) => index + 1));
  for (const id of ["steps", "bare"]) {
    const versions = changes.filter(({ storeId }) => storeId === id).map(({ version }) => version);
    expect(versions).toEqual(versions.map((_, index) => (versions[0] ?? 0) + index));
  }
}

async function departTwentyTimes(
  tabs: TestTabs,
  ways: readonly Departure[],
): Promise<{ readonly open: Page[]; readonly handOvers: number[]; departed: number }> {
  let open = [await openCounting(tabs), await openCounting(tabs), await openCounting(tabs)];
  const handOvers: number[] = [];
  let departed = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await untilAcknowledged(tabs, 6);
    const tools = await tabs.tools();
    const owner = await tools.owner();
    const way = ways[kill % ways.length] ?? "close";
    await departures[way](tools, owner);
    handOvers.push(await untilNextOwnerAnswers(tabs));
    if (way === "terminate") continue;
    departed += 1;
    open = [...open.filter((tab) => tab !== owner), await openCounting(tabs)];
  }
  return { open, handOvers, departed };
}

function report(handOvers: readonly number[]): void {
  const sorted = [...handOvers].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const text = `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms of ${sorted.length}, from the departure to the next acknowledgement`;
  test.info().annotations.push({ type: "hand-over", description: text });
  console.log(`hand-over in ${test.info().project.name}: ${text}`);
}

test("tabs 7, stores 10, tabs 4: the owner is killed twenty times in mid-commit; nothing acknowledged is lost or doubled", async ({
  tabs,
  browserName,
}) => {
  test.setTimeout(180_000);
  // Firefox runs all tabs of an origin in one process: there it is closed and terminated; the browser is killed below.
  const ways: Departure[] = browserName === "chromium" ? ["kill"] : ["close", "terminate"];
  const { open, handOvers, departed } = await departTwentyTimes(tabs, ways);
  const [reader] = open;
  if (reader === undefined) throw new Error("No tab is left.");
  await stopCounting(open);
  await check(tabs, reader, departed);
  report(handOvers);
});

test("tabs 2: the whole browser is killed in mid-commit; nothing acknowledged is lost or doubled", async ({
  tabs,
  profile,
}) => {
  test.setTimeout(120_000);
  let departed = 0;
  for (let kill = 0; kill < 3; kill++) {
    await openCounting(tabs);
    await openCounting(tabs);
    await untilAcknowledged(tabs, 10);
    await profile.killAndRestart();
    departed += 2;
  }
  await check(tabs, await tabs.open(), departed);
});
