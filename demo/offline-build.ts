/** Vite plugin: fills the files of the build into the service worker, and writes it beside them. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Plugin } from "vite";

export function offlineBuild(template: string): Plugin {
  return {
    name: "offline-build",
    apply: "build",
    // Reads what was written, not the bundle: workers and their wasm come by other ways than the app's own files.
    writeBundle({ dir }) {
      if (dir === undefined) return;
      const files = filesUnder(dir).map((file) => relative(dir, file).split(sep).join("/"));
      const hash = createHash("sha256");
      for (const file of files) hash.update(file).update(readFileSync(join(dir, file)));
      const addresses = files.map((file) => (file === "index.html" ? "./" : `./${file}`));
      const text = readFileSync(template, "utf8")
        .replace("__VERSION__", hash.digest("hex").slice(0, 12))
        .replace("__FILES__", JSON.stringify(addresses));
      writeFileSync(join(dir, "service-worker.js"), text);
    },
  };
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}
