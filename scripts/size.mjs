/** `npm run size`: what an app ships for wakeful, minified and gzipped, against its budget. Build dist first. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { repository } from "./run.mjs";

const kilobyte = 1000;
// The page's bundle has Comlink in it; the worker's has sqlite-wasm's glue (66 kB), while its .wasm file is loaded beside
// it. The budgets keep what is there from growing. What they should come down to is 16 kB for the page and 85 kB for the
// worker.
const bundles = [
  { name: "page", entry: "dist/src/index.js", budget: 27 * kilobyte },
  { name: "worker", entry: "dist/worker/main.js", budget: 87 * kilobyte },
  { name: "broker", entry: "dist/worker/broker.js", budget: 2 * kilobyte },
];

const kb = (bytes) => `${(bytes / kilobyte).toFixed(1)} kB`.padStart(10);
console.log(`${"bundle".padEnd(8)}${"minified".padStart(10)}${"gzip".padStart(10)}${"budget".padStart(10)}`);
for (const { name, entry, budget } of bundles) {
  if (!existsSync(join(repository, entry))) {
    console.error(`${entry} is missing: run \`npm run build\` first`);
    process.exitCode = 1;
    continue;
  }
  const { outputFiles } = await build({
    absWorkingDir: repository,
    entryPoints: [join(repository, entry)],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    write: false,
    logLevel: "error",
  });
  const { contents } = outputFiles[0];
  const gzip = gzipSync(contents, { level: 9 }).length;
  const over = gzip > budget;
  if (over) process.exitCode = 1;
  console.log(`${name.padEnd(8)}${kb(contents.length)}${kb(gzip)}${kb(budget)}${over ? "  over its budget" : ""}`);
}
