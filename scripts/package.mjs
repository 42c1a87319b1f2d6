/**
 * The package as npm would publish it: publint and are-the-types-wrong on it, then package-check.mjs, which installs
 * the packed tarball into a plain app and runs it.
 */
import { must } from "./run.mjs";

await must(["publint", "--strict"]);
await must(["attw", "--pack", ".", "--profile", "esm-only"]);
await must(["node", "scripts/package-check.mjs"]);
