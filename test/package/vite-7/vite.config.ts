import { defineConfig } from "vite";

export default defineConfig({
  // Before Vite 8, pre-bundling moves a module away from the worker and the .wasm that lie beside it.
  optimizeDeps: { exclude: ["wakeful", "@sqlite.org/sqlite-wasm"] },
});
