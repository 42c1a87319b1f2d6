/**
 * `npm run bench`: commits per second of wakeful beside its peers, as ratios, in one browser and one run. test/bench
 * has the contenders and says what the figures mean. `--quick` takes under two minutes, `--browser firefox` another
 * browser.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, platform, release, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import playwright from "playwright";
import { build, preview } from "vite";
import { browserNames, launchOptions } from "./browsers.mjs";
import { must, repository } from "./run.mjs";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, browser: { type: "string", default: "chromium" } },
});
if (!browserNames.includes(values.browser)) {
  console.error(`There is no browser ${values.browser} here, only ${browserNames.join(" and ")}`);
  process.exit(2);
}
const { rounds, milliseconds } = values.quick ? { rounds: 5, milliseconds: 400 } : { rounds: 11, milliseconds: 1000 };
const warmUp = 300;
const load = loadavg()[0];

const workloads = [
  { name: "One at a time, going round 100 documents", inFlight: 1, documents: 100 },
  { name: "100 in flight, each on a document of its own", inFlight: 100, documents: 100 },
  { name: "100 in flight on one document", inFlight: 100, documents: 1 },
];
const bases = ["Dexie strict", "Dexie strict, calls recorded"];
/** Measured in a tab that does not own its database; the first tab does, and rests. */
const inSecondTab = "wakeful strict, from a second tab";

await must(["node", "scripts/build.mjs"]);
const events = readEvents(100);
mkdirSync(join(repository, ".cache"), { recursive: true });
const outDir = mkdtempSync(join(repository, ".cache/bench-"));
const profile = mkdtempSync(join(tmpdir(), "wakeful-bench-"));
const settings = {
  configFile: false,
  root: join(repository, "test/bench"),
  logLevel: "error",
  worker: { format: "es" },
  build: { outDir, emptyOutDir: true, target: "es2022" },
};
await build(settings);
const server = await preview({ ...settings, preview: { host: "localhost", port: 0 } });
const context = await playwright[values.browser].launchPersistentContext(profile, launchOptions(values.browser));
try {
  await measureAll(server.resolvedUrls.local[0]);
} finally {
  await context.close();
  await server.close();
  for (const folder of [outDir, profile]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function measureAll(url) {
  const [first, second] = [await openTab(url), await openTab(url)];
  const names = await first.evaluate(() => window.bench.names);
  const open = (tab, which) => tab.evaluate(([some, all]) => window.bench.open(some, all), [which, events]);
  const sizes = await open(first, names);
  await open(second, [inSecondTab]);

  const tabOf = (name) => (name === inSecondTab ? second : first);
  const done = new Map(names.map((name) => [name, 0]));
  const rates = new Map(workloads.map((workload) => [workload, new Map(names.map((name) => [name, []]))]));
  for (let round = 0; round <= rounds; round++) {
    console.error(round === 0 ? "warming up" : `round ${round} of ${rounds}`);
    // What comes first finds a colder machine: each round begins with another contender.
    const order = [...names.slice(round % names.length), ...names.slice(0, round % names.length)];
    for (const workload of workloads) {
      for (const name of order) {
        const { commits, milliseconds: took } = await tabOf(name).evaluate(
          ([who, what, time]) => window.bench.measure(who, what, time),
          [name, workload, round === 0 ? warmUp : milliseconds],
        );
        done.set(name, done.get(name) + commits);
        if (round > 0)
          rates
            .get(workload)
            .get(name)
            .push((commits * 1000) / took);
      }
    }
  }
  for (const name of names) {
    const stored = await tabOf(name).evaluate((who) => window.bench.revisions(who), name);
    if (stored !== done.get(name))
      throw new Error(`${name} acknowledged ${done.get(name)} updates, and its documents hold ${stored}`);
  }
  print(names, rates, { sizes, updates: [...done.values()].reduce((sum, count) => sum + count, 0) });
}

async function openTab(url) {
  const tab = await context.newPage();
  tab.on("pageerror", (error) => console.error(`The page threw: ${error.message}`));
  await tab.goto(url);
  await tab.waitForFunction(() => window.bench !== undefined);
  return tab;
}

function print(names, rates, { sizes, updates }) {
  const version = (name) =>
    JSON.parse(readFileSync(join(repository, "node_modules", name, "package.json"), "utf8")).version;
  const processor = cpus()[0]?.model.trim() || "unknown processor";
  console.log(`
${capitalized(values.browser)} ${context.browser().version()}, ${availableParallelism()} cores (${processor}), ${platform()} ${release()}; load before the run ${load.toFixed(1)}.
Dexie ${version("dexie")}, SQLite ${version("@sqlite.org/sqlite-wasm")}; documents of ${median(sizes)} bytes (median of ${sizes.length} earthquakes).
${rounds} rounds of ${milliseconds} ms, interleaved. Median of the rounds, and in brackets the lowest and highest of them; a ratio is the median of
the ratios of each round. ${updates} updates, and each was found in the documents afterwards.`);
  for (const workload of workloads) {
    const results = rates.get(workload);
    console.log(`\n**${workload.name}**\n\n| | commits/s | ÷ ${bases.join(" | ÷ ")} |\n| --- | ---: | ---: | ---: |`);
    for (const name of names) {
      const own = results.get(name);
      const ratios = bases.map((base) => {
        const each = own.map((rate, round) => rate / results.get(base)[round]);
        return name === base ? "1" : spread(each, (ratio) => ratio.toFixed(ratio < 10 ? 2 : 1));
      });
      console.log(`| ${name} | ${spread(own, (rate) => rate.toFixed(0))} | ${ratios.join(" | ")} |`);
    }
  }
  console.log("\nNot measured here: see test/bench/README.md.");
}

function spread(numbers, format) {
  return `${format(median(numbers))} (${format(Math.min(...numbers))} to ${format(Math.max(...numbers))})`;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function capitalized(word) {
  return word[0].toUpperCase() + word.slice(1);
}

function readEvents(count) {
  const path = join(repository, "node_modules/vega-datasets/data/earthquakes.json");
  const { features } = JSON.parse(readFileSync(path, "utf8"));
  return features.slice(0, count);
}
