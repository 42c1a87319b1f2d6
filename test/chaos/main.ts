/** Runs and judges; scripts/chaos.mjs builds this file and starts it, with the address of the app. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import playwright from "playwright";
import { browserNames, launchOptions } from "../../scripts/browsers.mjs";
import { openProfile } from "../../src/testing/index.js";
import { ChaosRun } from "./chaos-run.js";
import { checkHistory, type Kind } from "./check-history.js";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "60" },
    tabs: { type: "string", default: "5" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    browser: { type: "string", default: "chromium" },
    url: { type: "string" },
    journal: { type: "string" },
    log: { type: "boolean", default: false },
  },
});
const { browser, url, journal } = values;
const [kills, tabs, seed] = [Number(values.kills), Number(values.tabs), Number(values.seed)];
if (
  url === undefined ||
  ![kills, tabs, seed].every(Number.isSafeInteger) ||
  !browserNames.some((name) => name === browser)
) {
  throw new Error(`Give whole numbers and one of ${browserNames.join(", ")}; start it with npm run chaos.`);
}

// One of the names above, which are Playwright's own.
const profile = await openProfile(playwright[browser as "chromium" | "firefox"], launchOptions(browser));
const run = new ChaosRun(profile, { url, kills, tabs, seed });
const started = Date.now();
try {
  const { history, handOvers, done } = await run.run();
  const violations = checkHistory(history);
  if (journal !== undefined) writeFileSync(journal, JSON.stringify(history));
  const count = (...kinds: Kind[]): number => violations.filter(({ kind }) => kinds.includes(kind)).length;
  const ends = history.entries.filter((entry) => entry.type === "end");
  console.log(
    `chaos in ${browser}: ${kills} departures, up to ${tabs} tabs, seed ${seed}, ${((Date.now() - started) / 1000).toFixed(0)} s; ` +
      `${ends.length} calls ended, ${history.feed.length} changes`,
  );
  console.log(
    `${count("lost")} lost, ${count("doubled")} doubled, ${count("hung", "missed")} hung, ${count("wiped", "gap")} wiped, ` +
      `${count("reordered", "wrong-value")} out of order, ${count("failed")} failed`,
  );
  console.log([...done].map(([what, times]) => `${times} × ${what}`).join("; "));
  const sorted = [...handOvers].sort((a, b) => a - b);
  const at = (share: number): number | undefined =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  console.log(
    `hand-over of ${sorted.length}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, from the departure to the next acknowledgement`,
  );
  if (values.log) console.log(run.actions.join("\n"));
  if (violations.length > 0) {
    for (const { kind, message } of violations.slice(0, 40)) console.error(`${kind}: ${message}`);
    tellActions();
  }
} catch (error) {
  console.error(error);
  tellActions();
} finally {
  await profile.close();
}

function tellActions(): void {
  process.exitCode = 1;
  console.error(`\nseed ${seed}; what was done:\n${run.actions.join("\n")}`);
}
