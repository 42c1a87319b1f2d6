/**
 * `npm test`: every stage, from an empty machine to the packed package. A failed stage does not keep the later ones
 * from running. `--only unit,chromium` runs some stages; `--long` adds the *.long.* tests and the slow stages.
 *
 * A stage writes its cases to COUNTS_FILE as { passed, failed, skipped: [{ name, reason }] } or counts as one.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { browserNames } from "./browsers.mjs";
import { repository, run } from "./run.mjs";

const vitest = (project) => [
  "vitest",
  "run",
  "--project",
  project,
  "--reporter=default",
  "--reporter=./scripts/count-vitest.mjs",
];
const tabs = (project) => [
  "playwright",
  "test",
  "--project",
  project,
  "--reporter=list,./scripts/count-playwright.mjs",
];

const chaos = (browser, kills) => ["node", "scripts/chaos.mjs", "--browser", browser, "--kills", String(kills)];

// `cases`: a runner that must report cases; without a single executed one the stage has failed.
// `long`: runs only with --long, or when it is named.
const stages = [
  { name: "install", command: ["node", "scripts/install.mjs"] },
  { name: "build", command: ["node", "scripts/build.mjs"] },
  { name: "types", command: ["tsc", "-b", "--force"] },
  { name: "format", command: ["biome", "format", "."] },
  { name: "lint", command: ["oxlint", "--deny-warnings"] },
  { name: "check", command: ["node", "scripts/check.mjs"] },
  { name: "contract", command: ["node", "scripts/contract.mjs"] },
  { name: "unit", command: vitest("unit"), cases: true },
  ...browserNames.map((name) => ({ name, command: vitest(name), cases: true })),
  ...browserNames.map((name) => ({ name: `tabs-${name}`, command: tabs(name), cases: true })),
  // Random each time; a run prints its seed.
  { name: "chaos", command: chaos("chromium", 60) },
  { name: "chaos-firefox", command: chaos("firefox", 20) },
  { name: "chaos-300", command: chaos("chromium", 300), long: true },
  { name: "chaos-firefox-100", command: chaos("firefox", 100), long: true },
  { name: "demo", command: ["node", "scripts/demo-check.mjs"] },
  { name: "demo-firefox", command: ["node", "scripts/demo-check.mjs", "--browser", "firefox"], long: true },
  { name: "package", command: ["node", "scripts/package-check.mjs"], cases: true },
  { name: "recipes", command: ["node", "scripts/recipes.mjs"], cases: true, long: true },
  { name: "size", command: ["node", "scripts/size.mjs"] },
];

const { values } = parseArgs({ options: { only: { type: "string" }, long: { type: "boolean" } } });
const chosen = values.only?.split(",") ?? stages.filter(({ long }) => values.long || !long).map(({ name }) => name);
const unknown = chosen.filter((name) => !stages.some((stage) => stage.name === name));
if (unknown.length > 0) {
  console.error(`There is no stage ${unknown.join(", ")}. The stages: ${stages.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const reports = join(repository, ".cache/reports");
mkdirSync(reports, { recursive: true });
const results = [];
for (const stage of stages.filter(({ name }) => chosen.includes(name))) {
  console.log(`\n── ${stage.name} ──`);
  results.push(await runStage(stage));
  // Nothing can run without its packages; what would follow is noise.
  if (stage.name === "install" && results.at(-1).failed > 0) break;
}
summarize();

async function runStage({ name, command, cases }) {
  const file = join(reports, `${name}-${process.pid}.json`);
  const env = { COUNTS_FILE: file, ...(values.long ? { WAKEFUL_LONG: "1" } : {}) };
  const started = performance.now();
  const code = await run(command, { env });
  const seconds = (performance.now() - started) / 1000;
  const counts = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  rmSync(file, { force: true });
  if (!counts && !cases) return { name, seconds, passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: [] };

  const { passed = 0, failed = 0, skipped = [] } = counts ?? {};
  const problem = !counts
    ? "wrote no counts"
    : passed + failed === 0
      ? "executed no test"
      : code !== 0 && failed === 0
        ? `ended with exit code ${code}`
        : undefined;
  if (problem) console.error(`${name}: the runner ${problem}`);
  return { name, seconds, passed, failed: failed + (problem ? 1 : 0), skipped };
}

function summarize() {
  console.log("\n── summary ──");
  for (const { name, seconds, passed, failed, skipped } of results) {
    const verdict = failed > 0 ? "FAILED" : "ok";
    console.log(
      `${name.padEnd(18)}${verdict.padEnd(8)}${`${seconds.toFixed(1)} s`.padStart(9)}  ${passed} passed, ${failed} failed`,
    );
    for (const test of skipped) console.log(`  skipped: ${test.name} (${test.reason || "no reason given"})`);
  }
  const total = (count) => results.reduce((sum, result) => sum + count(result), 0);
  const [passed, failed, skipped] = [total((r) => r.passed), total((r) => r.failed), total((r) => r.skipped.length)];
  console.log(`total ${total((r) => r.seconds).toFixed(0)} s\n`);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
