/**
 * `npm run demo:check`: the demo as built, in a real browser, from the empty desk to the restart of the browser.
 * `--browser firefox` for the other one; `--no-build` with the package that is in dist already.
 *
 * Three tabs review by themselves (`?auto=1` presses the buttons a person would press). What each says it did is kept
 * here, outside the browser, and compared in the end with what the stores hold.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { browserNames, launchOptions } from "./browsers.mjs";
import { DemoJournal } from "./demo-journal.mjs";
import { must, repository } from "./run.mjs";

const { values } = parseArgs({
  options: { browser: { type: "string", default: "chromium" }, "no-build": { type: "boolean", default: false } },
});
if (!browserNames.includes(values.browser)) {
  console.error(`--browser is one of ${browserNames.join(", ")}`);
  process.exit(2);
}
/** Milliseconds without any progress after which the demo hangs. */
const PATIENCE = 120_000;

if (!values["no-build"]) await must(["node", "scripts/build.mjs"]);
const { build, preview } = await import("vite");
const playwright = await import("playwright");
const settings = { root: join(repository, "demo"), logLevel: "warn" };
await build(settings);
const feed = JSON.parse(readFileSync(join(repository, "node_modules/vega-datasets/data/earthquakes.json"), "utf8"));
const feedIds = feed.features.map(({ id }) => id);
const strongIds = feed.features.filter(({ properties }) => properties.mag >= 5).map(({ id }) => id);

const journal = new DemoJournal();
/** Who waits for the next downloaded file. */
const downloads = [];
const cases = [];
const check = (name, fact, holds) => {
  cases.push({ name, holds });
  console.log(`${holds ? "✓" : "✗"} ${name}: ${fact}`);
};

const folder = await mkdtemp(join(tmpdir(), "wakeful-demo-"));
const server = await preview({ ...settings, preview: { host: "localhost", port: 4300 } });
const address = server.resolvedUrls.local[0];
let context;
const started = performance.now();
try {
  context = await launch();
  const before = await reviewTheWeek();
  await context.close();
  await server.close();
  context = await launch();
  await lookAgain(before);
} catch (error) {
  console.error(error);
  for (const tab of context?.pages() ?? []) await describeTab(tab).catch(console.error);
  check("the demo runs to its end", error.message.split("\n")[0], false);
} finally {
  await context?.close();
  await server.close().catch(() => undefined); // Mostly closed already, so that nothing comes over the network.
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

const failed = cases.filter(({ holds }) => !holds).length;
console.log(`\n${values.browser}, ${((performance.now() - started) / 1000).toFixed(1)} s`);
console.log(`${cases.length - failed} passed, ${failed} failed`);
if (process.env.COUNTS_FILE) {
  writeFileSync(process.env.COUNTS_FILE, JSON.stringify({ passed: cases.length - failed, failed, skipped: [] }));
}
process.exit(failed > 0 || cases.length === 0 ? 1 : 0);

async function launch() {
  const options = { ...launchOptions(values.browser), reducedMotion: "reduce" };
  const launched = await playwright[values.browser].launchPersistentContext(folder, options);
  launched.setDefaultTimeout(PATIENCE);
  await launched.exposeBinding("recordActivity", (_source, activity) => journal.record(activity));
  await launched.exposeBinding("recordDownload", (_source, text) => downloads.shift()(JSON.parse(text)));
  await launched.addInitScript(() => {
    addEventListener("desk-activity", ({ detail }) => void globalThis.recordActivity(detail));
    // Not every driver reports downloads: the file is taken where the page makes it.
    const createObjectURL = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (file) => {
      void file.text().then(globalThis.recordDownload);
      return createObjectURL(file);
    };
  });
  return launched;
}

async function openTab(query) {
  const tab = await context.newPage();
  tab.on("pageerror", (error) => journal.record({ type: "problem", text: String(error) }));
  await tab.goto(address + query);
  await tab.locator("[data-view=opening]").waitFor({ state: "hidden" });
  return tab;
}

/** From the empty desk to the finished one, with everything that can get in between. Answers what the stores hold. */
async function reviewTheWeek() {
  const tabs = [await openTab("?auto=1"), await openTab("?auto=1"), await openTab("?auto=1")];
  await importInTwoTabs(tabs);

  await journal.until(({ rated }) => rated >= feedIds.length / 2, PATIENCE);
  const owner = await ownerOf(tabs);
  const epoch = await epochOf(owner);
  const closed = await owner.locator("#reviewer-name").textContent();
  await owner.close();
  const left = tabs.filter((tab) => tab !== owner);
  const next = await ownerOf(left);
  check(
    "owner closed half-way",
    `another tab took over, epoch ${epoch} → ${await epochOf(next)}`,
    (await epochOf(next)) > epoch,
  );

  const other = left.find((tab) => tab !== next);
  const name = await other.locator("#reviewer-name").textContent();
  await other.reload();
  const ratedBefore = journal.ratedBy(name);
  await journal.until(() => journal.ratedBy(name) > ratedBefore, PATIENCE);
  check(
    "reloaded",
    `${name} is ${await other.locator("#reviewer-name").textContent()} again and goes on`,
    (await other.locator("#reviewer-name").textContent()) === name,
  );

  const finished = left.map((tab) => tab.locator("[data-view=finished]").waitFor({ timeout: 0 }));
  await Promise.race([Promise.all(finished), journal.until(() => false, PATIENCE)]);
  const { events } = await exported(left[0]);
  judge(events, [closed, name]);
  return events;
}

/** Two tabs import the same feed at once, and one of them is reloaded in the middle of it. */
async function importInTwoTabs([first, second]) {
  // Pressed from within: a mouse takes its time, and the faster tab would be done before the other one begins.
  const press = (tab) => tab.locator("[data-view=empty] [data-import]").evaluate((button) => button.click());
  await Promise.all([press(first), press(second)]);
  await second.locator("#progress").waitFor();
  await first.reload({ waitUntil: "commit" });
  const progress = await second.locator("#progress-text").textContent();
  await journal.until(({ importedBy }) => importedBy > 0, PATIENCE);
  await first.locator("[data-view=opening]").waitFor({ state: "hidden" });
  console.log(`  two tabs imported at once; one was reloaded at: ${progress}`);
}

/** `interrupted`: the reviewers whose tabs were closed or reloaded, and may not have come to say what they did last. */
function judge(events, interrupted) {
  const facts = journal.facts();
  const ids = events.map(({ id }) => id);
  check("imported once", `${ids.length} stores of ${feedIds.length} events`, sameIds(ids, feedIds));
  const untold = events.filter(({ id, review }) => !journal.wasTaken(id) && review.status === "final");
  const known = untold.filter(({ review }) => interrupted.includes(review.reviewer.replace(/-[^-]*$/, "")));
  check(
    "taken",
    `${facts.taken + known.length} of ${feedIds.length} events, ${known.length} of them told by the stores alone`,
    facts.taken + known.length === feedIds.length && known.length === untold.length,
  );
  check("taken twice", `${facts.takenTwice.length}`, facts.takenTwice.length === 0);
  console.log(
    `  handed back from tabs that were gone: ${facts.handedBack}; taken up again after a reload: ${facts.resumed}`,
  );
  const lost = feedIds.filter((id) => events.find((event) => event.id === id)?.review.status !== "final");
  check("lost", `${lost.length}`, lost.length === 0);
  // Imported, rated; or imported, rated, approved. One write more or less would show in the version.
  const strong = new Set(strongIds);
  const odd = events.filter(({ id, version }) => version !== (strong.has(id) ? 3 : 2));
  check("written twice", `${odd.length}`, odd.length === 0);
  const contradicted = events.filter(({ id, review }) => journal.contradicts(id, review));
  check("reported otherwise than stored", `${contradicted.length}`, contradicted.length === 0);
  const approved = events.filter(({ review }) => review.approvedBy && review.approvedBy !== review.reviewer);
  const approvedIds = approved.map(({ id }) => id);
  check("approved by a second tab", `${approved.length} of ${strongIds.length}`, sameIds(approvedIds, strongIds));
  check("problems shown to the reviewers", facts.problems.join("; ") || "0", facts.problems.length === 0);
}

/** After the restart, with the server gone: the page comes from its service worker, the data from OPFS. */
async function lookAgain(before) {
  const tab = await openTab("");
  const { events } = await exported(tab);
  const same = JSON.stringify(events) === JSON.stringify(before);
  check("after a browser restart, without a network", `${events.length} of ${before.length} reviews remain`, same);
}

/** What a tab shows when something went wrong. */
async function describeTab(tab) {
  const read = async (selector) =>
    (await tab.locator(selector).innerText({ timeout: 5000 })).replaceAll(/\s*\n\s*/g, " | ");
  console.error(`${await tab.title()}: ${await read("#progress")}\n  notices: ${await read("#notices")}`);
  console.error(`  database: ${await read("#database")}\n  waits: ${await read("#waits")}`);
}

async function exported(tab) {
  const file = new Promise((resolve, reject) => {
    downloads.push(resolve);
    setTimeout(() => reject(new Error("The download did not come")), PATIENCE).unref();
  });
  await tab.locator("#export").click();
  return await file;
}

/** The tab that says it owns the database, once one does. */
async function ownerOf(tabs) {
  return await Promise.any(
    tabs.map((tab) =>
      tab
        .locator("html[data-owner=true]")
        .waitFor({ state: "attached" })
        .then(() => tab),
    ),
  );
}

async function epochOf(tab) {
  return Number(await tab.locator("html").getAttribute("data-epoch"));
}

function sameIds(some, others) {
  const wanted = new Set(others);
  return some.length === wanted.size && new Set(some).size === wanted.size && some.every((id) => wanted.has(id));
}
