/**
 * Builds test/tabs/app as an app's bundler would and serves it on a free port, for one run of the tests. Each run
 * builds into its own folder, so that two runs at once do not pull the files from under each other.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, preview } from "vite";
import { otherBuild, otherBuilds } from "./other-builds.mjs";

const repository = resolve(import.meta.dirname, "../..");
mkdirSync(join(repository, ".cache"), { recursive: true });
const outDir = mkdtempSync(join(repository, ".cache/tabs-app-"));
/** Made anew for each use: Vite writes what it resolved into the object that it is given. */
const settings = (base = "/", plugins = () => []) => ({
  configFile: false,
  root: join(import.meta.dirname, "app"),
  base,
  logLevel: "warn",
  plugins: plugins(),
  worker: { format: "es", plugins },
  build: { outDir: join(outDir, base), emptyOutDir: true, target: "es2022", minify: false },
});

await build(settings());
// Other builds stand beside it on the same origin, each under its own path.
for (const [path, numbers] of Object.entries(otherBuilds)) {
  await build(settings(`/${path}/`, () => [otherBuild(numbers)]));
}
// No COOP/COEP headers: the library must work without cross-origin isolation.
const server = await preview({ ...settings(), preview: { host: "localhost", port: 0 } });
const { port } = server.httpServer.address();
console.log(`tabs app at http://localhost:${port}/`);

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    rmSync(outDir, { recursive: true, force: true });
    process.exit(0);
  });
}
