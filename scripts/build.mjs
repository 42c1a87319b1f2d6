/** Builds dist, the tree that is published: src with src/testing, worker and test/conformance, with declarations and source maps. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { must, repository } from "./run.mjs";

await must(["tsc", "-b", "src/protocol", "src", "src/testing", "worker", "test/conformance"]);
removeStale("");

// The compiler leaves the output of a source that is gone; it would be published.
function removeStale(folder) {
  for (const entry of readdirSync(join(repository, "dist", folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeStale(path);
    const source = path.replace(/\.(?:d\.ts|js)(?:\.map)?$/, ".ts");
    if (source !== path && !existsSync(join(repository, source))) rmSync(join(repository, "dist", path));
  }
}
