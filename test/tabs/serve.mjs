/**
 * Builds test/tabs/app as an app's bundler would and serves it on a free port, for one run of the tests. Each run
 * builds into its own folder, so that two runs at once do not pull the files from under each other.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, preview } from "vite";

const repository = resolve(import.meta.dirname, "../..");
mkdirSync(join(repository, ".cache"), { recursive: true });
const outDir = mkdtempSync(join(repository, ".cache/tabs-app-"));
const settings = {
  configFile: false,
  root: join(import.meta.dirname, "app"),
  logLevel: "warn",
  worker: { format: "es" },
  build: { outDir, emptyOutDir: true, target: "es2022", minify: false, sourcemap: true },
};

await build(settings);
// No COOP/COEP headers: the library must work without cross-origin isolation.
const server = await preview({ ...settings, preview: { host: "localhost", port: 0 } });
const { port } = server.httpServer.address();
console.log(`tabs app at http://localhost:${port}/`);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    rmSync(outDir, { recursive: true, force: true });
    process.exit(0);
  });
}
