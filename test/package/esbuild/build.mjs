import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { build } from "esbuild";

await build({
  // esbuild does not follow `new URL(…, import.meta.url)`: the workers are entries of their own.
  entryPoints: { main: "src/main.ts", worker: "wakeful/worker", broker: "wakeful/broker" },
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  outdir: "dist",
});
// SQLite looks for it beside the worker.
const { resolve } = createRequire(import.meta.resolve("wakeful/worker"));
copyFileSync(resolve("@sqlite.org/sqlite-wasm/sqlite3.wasm"), "dist/sqlite3.wasm");
