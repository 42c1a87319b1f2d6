/**
 * The rules of the house: who may import whom, where the platform's and the packages' sharp tools may be touched, how
 * long a file may be, and what never belongs in the tree. Pure: from the files' texts to findings.
 */
import { posix } from "node:path";
import { importsOf, lineAt, maskSource } from "./source-text.mjs";

const warnLines = 300;
const failLines = 500;

// First match decides. `from`: where the importing file is. `may`: the files in the tree that it may import.
// `packages`: the packages, all of them if left out.
const directions = [
  { from: /^src\/protocol\//, may: [/^src\/protocol\//], packages: [] },
  // Tools for tests, in Node: the page never imports them.
  {
    from: /^src\/testing\//,
    may: [/^src\/(?!index\.ts$)/],
    packages: ["@playwright/test", "node:fs", "node:os", "node:path"],
  },
  {
    from: /^src\//,
    may: [/^src\/(?!index\.ts$|testing\/)/],
    packages: ["@standard-schema/spec", "comlink", "uuid"],
  },
  { from: /^worker\//, may: [/^worker\//, /^src\/protocol\//], packages: ["@sqlite.org/sqlite-wasm", "comlink"] },
  { from: /^demo\//, may: [/^demo\//] },
  { from: /^test\/conformance\/(?!node\/)/, may: [/^test\/conformance\/(?!node\/)/, /^src\//], packages: ["vitest"] },
  { from: /^scripts\//, may: [/^scripts\//] },
];

// A package that is reached from these places only.
const places = [
  {
    package: "comlink",
    only: /^(?:src\/connection\/|worker\/(?:main|endpoint)\.ts$)/,
    said: "src/connection and the worker's entry",
  },
  {
    package: "@sqlite.org/sqlite-wasm",
    only: /^worker\/(?:database|opfs-pool)\.ts$/,
    said: "worker/database.ts and its VFS part, worker/opfs-pool.ts",
  },
];

// One concern's SQL each: composed by commit.ts and connector.ts, blind to one another.
const concerns = /^worker\/(?:stores|ledger|waiters|wakes|executions|changes|definitions|sessions)\.ts$/;

const machinePaths = /(?:\/(?:home|Users)\/[a-z][\w.-]*\/|\/root\/|\/work\/|[A-Z]:\\Users\\)/;

/**
 * Checks the tree. `files` maps a path from the repository's root to its text. Each finding is
 * `{ level: "fail" | "warn", rule, path, line, message }`.
 */
export function checkArchitecture(files) {
  const findings = [];
  const report = (rule, path, line, message, level = "fail") => findings.push({ level, rule, path, line, message });
  const graph = new Map();
  const channels = { src: [], "src/testing": [], worker: [] };

  for (const [path, text] of files) {
    checkText(path, text, report);
    if (!/\.(?:ts|mts|mjs)$/.test(path)) continue;
    const source = maskSource(text);
    const imports = importsOf(source).map((found) => ({
      ...found,
      target: resolveImport(path, found.specifier, files),
    }));
    graph.set(path, imports);
    for (const found of imports) checkImport(path, found, report);
    checkCode(path, source, report);
    if (path === "src/index.ts") checkIndex(path, source, report);
    const side = /^(src\/testing|src|worker)\//.exec(path)?.[1];
    if (side && /\bnew\s+BroadcastChannel\b/.test(source.code)) channels[side].push(path);
  }
  for (const [side, users] of Object.entries(channels)) {
    if (users.length < 2) continue;
    const message = `BroadcastChannels are made in one file of ${side}, not in ${users.join(", ")}`;
    for (const path of users) report("broadcast-channel", path, 1, message);
  }
  checkCycles(graph, report);
  return findings;
}

function checkText(path, text, report) {
  const name = posix.basename(path);
  if (path === "package-lock.json" && /"resolved": "http/.test(text)) {
    report(
      "lockfile",
      path,
      1,
      "The lockfile names a registry: keep .npmrc's omit-lockfile-registry-resolved and install again",
    );
  }
  const machinePath = machinePaths.exec(text);
  if (machinePath && path !== "package-lock.json") {
    report("machine-path", path, lineAt(text, machinePath.index), `A path of one machine: ${machinePath[0]}`);
  }
  if (!/^(?:src|worker|test|demo|scripts)\/.*\.(?:ts|mts|mjs|css)$/.test(path)) return;
  if (!/^[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(name)) report("file-name", path, 1, "File names are kebab-case");
  if (/^(?:utils?|helpers?|manager|common|misc|shared)\b/.test(name)) {
    report("file-name", path, 1, "A file is named for its main export, not for being of use");
  }
  const lines = text.split("\n").length - 1;
  if (lines > warnLines) {
    const level = lines > failLines ? "fail" : "warn";
    report(
      "file-length",
      path,
      lines,
      `${lines} lines: over ${warnLines} is a question, over ${failLines} a failure`,
      level,
    );
  }
}

function checkImport(path, { specifier, target, line }, report) {
  const local = specifier.startsWith(".");
  const packageName = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
  if (/^src\//.test(path) && target === "src/index.ts") {
    report("index", path, line, "Nothing inside src imports index.ts: import the file that has it");
    return;
  }
  if (concerns.test(path) && concerns.test(target)) {
    report("concerns", path, line, `${target} is another concern: compose the two in commit.ts or connector.ts`);
  }
  if (/^(?:src|worker|demo)\//.test(path) || /^test\/conformance\/(?!node\/)/.test(path)) {
    const place = places.find((candidate) => candidate.package === packageName);
    if (place && !place.only.test(path)) report("place", path, line, `${specifier} is for ${place.said} only`);
  }
  const rule = directions.find((candidate) => candidate.from.test(path));
  if (!rule) return;
  if (
    local ? !rule.may.some((allowed) => allowed.test(target)) : rule.packages && !rule.packages.includes(packageName)
  ) {
    report("direction", path, line, `${path} may not import ${local ? target : specifier}`);
  }
}

function checkCode(path, source, report) {
  const each = (pattern, found) => {
    for (const match of source.code.matchAll(pattern)) found(match[0], lineAt(source.code, match.index));
  };
  const lines = source.code.split("\n");
  const commentLines = source.comments.split("\n");
  // A comment on the line itself or above it in the same paragraph, at most `reach` lines up.
  const commented = (line, reach) => {
    for (let at = line - 1; at >= Math.max(0, line - 1 - reach); at--) {
      if (commentLines[at].trim() !== "") return true;
      if (lines[at].trim() === "") return false;
    }
    return false;
  };

  each(/\bas\s+any\b/g, (found, line) => report("any", path, line, `${found} switches the compiler off: use unknown`));
  // A cast to something unknown widens and promises nothing; `as` in an import or export only renames.
  if (/^(?:src|worker)\//.test(path)) {
    each(/\bas\s+(?!const\b|any\b)[A-Za-z{([][^;,)]*/g, (cast, line) => {
      const renames = /^\s*(?:import|export)\b.*\bas\b|^\s*(?:type\s+)?\w+ as \w+,?\s*$/.test(lines[line - 1]);
      if (renames || /\bunknown\b/.test(cast)) return;
      if (!commented(line, 8)) report("cast", path, line, "A cast carries its reason: say in a comment why it holds");
    });
  }
  for (const match of source.comments.matchAll(/@ts-(?:ignore|nocheck)/g)) {
    report("ts-ignore", path, lineAt(source.comments, match.index), `${match[0]}: use @ts-expect-error with a reason`);
  }
  if (!/^test\//.test(path)) return;
  each(/\b(?:test|it|describe|suite)(?:\.\w+)*\.only\b/g, (found, line) =>
    report("only", path, line, `${found} keeps every other test from running`),
  );
  each(/\b(?:test|it|describe|suite)(?:\.\w+)*\.(?:skip|todo|fixme|fails?|skipIf|runIf)\b/g, (found, line) => {
    if (!commented(line, 1))
      report("skip", path, line, `${found} needs its reason in a comment beside it or just above`);
  });
}

function checkIndex(path, source, report) {
  const rest = source.code.replaceAll(/export\s+(?:type\s+)?\{[^}]*\}\s*from\s*"\s*";?/g, (found) =>
    found.replaceAll(/\S/g, " "),
  );
  const stray = /\S/.exec(rest);
  if (stray)
    report("index", path, lineAt(rest, stray.index), "index.ts holds named exports from other files and nothing else");
}

// Depth first; each cycle is reported once, at the file where it was entered.
function checkCycles(graph, report) {
  const done = new Set();
  const trail = [];
  const visit = (path) => {
    if (done.has(path)) return;
    const start = trail.indexOf(path);
    if (start !== -1) {
      report("cycle", path, 1, `A cycle of imports: ${[...trail.slice(start), path].join(" → ")}`);
      return;
    }
    trail.push(path);
    for (const { target } of graph.get(path) ?? []) if (graph.has(target)) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
}

// "./path.js" names path.ts, path.d.ts or path.js, as the compiler has it; a package's name stays as it is.
function resolveImport(path, specifier, files) {
  if (!specifier.startsWith(".")) return specifier;
  const named = posix.join(posix.dirname(path), specifier);
  const stem = named.replace(/\.(m?)js$/, ".$1");
  return [named, `${stem}ts`, `${stem}tsx`, `${stem}d.ts`].find((candidate) => files.has(candidate)) ?? named;
}
