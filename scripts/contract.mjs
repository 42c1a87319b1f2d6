/**
 * `npm run contract`: every claim of test/contract has a test that names it. No dependencies.
 *
 * A claim is a file whose first line is `# stores 12: title`. A test cites it by beginning its name with `stores 12: `;
 * several are cited as `stores 22, 23: `. Citations are read from the names in test files, conformance cases and type
 * tests; what is commented out cites nothing.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { maskSource } from "./source-text.mjs";

/** How many numbered lines the contract has. */
const numbered = { stores: 32, tabs: 25 };

/** Lines that are kept by work to come. A test may cite them already; a claim must not be written before. */
const laterLines = {
  stores: [19, 28],
  tabs: [9, 23],
};

const claimHeading = /^# ((?:stores|tabs) (?:\d+|[A-Z][a-z]*(?: [a-z]+)*)|C\d+): \S/;
const testFile = /^test\/(?:.*\.(?:test|spec)\.tsx?|conformance\/[^/]+\.ts|types\/[^/]+\.ts)$/;
const citation = /["'`]((?:(?:stores|tabs) (?:\d+|[A-Z][a-z]*(?: [a-z]+)*)|C\d+)(?:, (?:(?:stores|tabs) )?\d+)*): /g;

/**
 * Compares claims with tests. `files` maps a path from the repository's root to its text, `later` names the lines that
 * are kept by work to come. Answers the claims, how many citations each has, and what is wrong, in words.
 */
export function checkContract(files, later = laterLines) {
  const problems = [];
  const claims = new Map();
  const deferred = new Set(Object.entries(later).flatMap(([part, lines]) => lines.map((line) => `${part} ${line}`)));
  for (const [path, text] of files) {
    if (!/^test\/contract\/.*\.md$/.test(path)) continue;
    const id = claimHeading.exec(text)?.[1];
    if (id === undefined) problems.push(`${path}: the first line must be "# stores 12: title"`);
    else if (claims.has(id)) problems.push(`${path}: ${id} is claimed twice`);
    else if (deferred.has(id))
      problems.push(`${path}: ${id} is on the list of later lines; take it off with its tests`);
    else claims.set(id, 0);
  }
  for (const [part, count] of Object.entries(numbered)) {
    for (let line = 1; line <= count; line++) {
      const id = `${part} ${line}`;
      if (!claims.has(id) && !deferred.has(id))
        problems.push(`${id} is neither claimed nor on the list of later lines`);
    }
  }
  for (const [path, text] of files) {
    if (!testFile.test(path)) continue;
    for (const id of citationsOf(text)) {
      if (claims.has(id)) claims.set(id, claims.get(id) + 1);
      else if (!deferred.has(id)) problems.push(`${path}: cites ${id}, which the contract does not have`);
    }
  }
  for (const [id, citations] of claims)
    if (citations === 0) problems.push(`${id} has no test whose name begins with it`);
  return { claims, problems };
}

/** The lines that the names in a source cite, one for each time. */
function citationsOf(text) {
  const { plain, code } = maskSource(text);
  // Only the marks at the ends of a string are code: what stands inside of it, quoted once more, is no name.
  const names = [...plain.matchAll(citation)].filter(({ index }) => code[index] === plain[index]);
  return names.flatMap(([, cited]) => {
    let part = "";
    return cited.split(", ").map((id) => {
      if (/^\d/.test(id)) return `${part} ${id}`;
      part = id.split(" ")[0];
      return id;
    });
  });
}

function filesUnder(folder, repository) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesUnder(path, repository);
    return /\.(?:md|tsx?)$/.test(entry.name) ? [relative(repository, path).split(sep).join("/")] : [];
  });
}

function main() {
  const repository = resolve(import.meta.dirname, "..");
  const paths = filesUnder(join(repository, "test"), repository);
  const { claims, problems } = checkContract(
    new Map(paths.map((path) => [path, readFileSync(join(repository, path), "utf8")])),
  );
  for (const problem of problems) console.log(`contract: ${problem}`);
  const tested = [...claims.values()].filter((citations) => citations > 0).length;
  const waiting = Object.values(laterLines).flat().length;
  console.log(`contract: ${tested} of ${claims.size} claims have a test, ${waiting} lines belong to later work`);
  process.exitCode = problems.length > 0 || claims.size === 0 ? 1 : 0;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) main();
