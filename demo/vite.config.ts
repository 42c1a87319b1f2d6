import { resolve } from "node:path";
import { defineConfig } from "vite";
import { offlineBuild } from "./offline-build.js";

const repository = resolve(import.meta.dirname, "..");

// Otherwise it says on a busy machine that plugins take most of a build of two seconds.
const quiet = { checks: { pluginTimings: false } };

export default defineConfig({
  base: "./", // Runs under any path.
  // The package exports code only; the demo serves two of its data files.
  resolve: { alias: { "@vega-data": resolve(repository, "node_modules/vega-datasets/data") } },
  server: { fs: { allow: [repository] } },
  plugins: [offlineBuild(resolve(import.meta.dirname, "service-worker.js"))],
  // sqlite-wasm finds its .wasm beside its own module; pre-bundling would move the module away from it.
  optimizeDeps: { exclude: ["@sqlite.org/sqlite-wasm"] },
  worker: { format: "es", rolldownOptions: quiet },
  build: {
    outDir: resolve(repository, ".cache/demo"),
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: quiet,
  },
});
