/**
 * `npm run chaos -- --kills 60 --tabs 5 --seed 1 --browser firefox`: tabs under load that are killed, closed, frozen and
 * so on at random, and a check of everything that was acknowledged. `--journal FILE` keeps the history, `--log` prints what was done.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build as bundle } from "esbuild";
import { build, preview } from "vite";
import { repository, run } from "./run.mjs";

mkdirSync(join(repository, ".cache"), { recursive: true });
// Inside the repository, so that what is built here finds its packages.
const folder = mkdtempSync(join(repository, ".cache/chaos-"));
const settings = {
  configFile: false,
  root: join(repository, "test/chaos/app"),
  logLevel: "error",
  worker: { format: "es" },
  build: { outDir: join(folder, "app"), emptyOutDir: true, target: "es2022" },
};
await build(settings);
const main = join(folder, "chaos.mjs");
await bundle({
  entryPoints: [join(repository, "test/chaos/main.ts")],
  outfile: main,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  sourcemap: "inline",
  logLevel: "error",
});
const server = await preview({ ...settings, preview: { host: "localhost", port: 0 } });
try {
  const [url] = server.resolvedUrls.local;
  process.exitCode = await run(["node", main, "--url", url, ...process.argv.slice(2)], { minutes: 60 });
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
