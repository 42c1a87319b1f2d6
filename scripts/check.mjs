/** `npm run check`: the rules of architecture.mjs over the files of this repository. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { checkArchitecture } from "./architecture.mjs";

const repository = resolve(import.meta.dirname, "..");
const skipped = new Set(["node_modules", "dist", ".cache", ".git", "fixtures"]);
const readable = /\.(?:ts|mts|mjs|js|json|md|css|html|yml)$|(?:^|\/)(?:\.ci\/run|\.npmrc|\.gitignore)$/;

const files = new Map();
for (const path of filesUnder(repository)) files.set(path, readFileSync(join(repository, path), "utf8"));

const findings = checkArchitecture(files);
for (const { level, rule, path, line, message } of findings)
  console.log(`${level} ${path}:${line} ${message} (${rule})`);
const failures = findings.filter(({ level }) => level === "fail").length;
console.log(`check: ${files.size} files, ${failures} failures, ${findings.length - failures} warnings`);
process.exitCode = failures > 0 || files.size === 0 ? 1 : 0;

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesUnder(path);
    const name = relative(repository, path).split(sep).join("/");
    return readable.test(name) ? [name] : [];
  });
}
