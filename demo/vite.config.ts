import { resolve } from "node:path";
import { defineConfig } from "vite";
import { offlineBuild } from "./offline-build.js";

const repository = resolve(import.meta.dirname, "..");

export default defineConfig({
  base: "./", // Runs under any path.
  // The package exports code only; the demo serves two of its data files.
  resolve: { alias: { "@vega-data": resolve(repository, "node_modules/vega-datasets/data") } },
  server: { fs: { allow: [repository] } },
  plugins: [offlineBuild(resolve(import.meta.dirname, "service-worker.js"))],
  // sqlite-wasm finds its .wasm beside its own module; pre-bundling would move the module away from it.
  optimizeDeps: { exclude: ["@sqlite.org/sqlite-wasm"] },
  worker: { format: "es" },
  build: {
    outDir: resolve(repository, ".cache/demo"),
    emptyOutDir: true,
    target: "es2022",
    // Says on a busy machine that plugins take most of a two-second build.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
