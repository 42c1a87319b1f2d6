import { resolve } from "node:path";
import { defineConfig } from "vite";

export default defineConfig({
  // sqlite-wasm finds its .wasm beside its own module; pre-bundling would move the module away from it.
  optimizeDeps: { exclude: ["@sqlite.org/sqlite-wasm"] },
  worker: { format: "es" },
  build: { outDir: resolve(import.meta.dirname, "../.cache/demo"), emptyOutDir: true, target: "es2022" },
});
