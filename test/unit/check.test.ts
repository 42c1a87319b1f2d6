import { expect, test } from "vitest";
import { checkArchitecture } from "../../scripts/architecture.mjs";

// Spelled in pieces, so that this file does not break the rules it tests.
const any = ["as", "any"].join(" ");
const only = ["test", "only"].join(".");
const skip = ["test", "skip"].join(".");
const home = ["", "home", "someone", "project"].join("/");
const ignore = ["@ts", "ignore"].join("-");

/** The rules that a tree of files breaks, as `rule path`. */
function broken(files: Record<string, string>, level: "fail" | "warn" = "fail"): string[] {
  return checkArchitecture(new Map(Object.entries(files)))
    .filter((finding) => finding.level === level)
    .map(({ rule, path }) => `${rule} ${path}`);
}

test("a tree that keeps the rules has no findings", () => {
  const files = {
    "src/index.ts": 'export { openStores } from "./open-stores.js";\nexport type { Path } from "./protocol/path.js";\n',
    "src/open-stores.ts": 'import { wrap } from "./connection/transport.js";\n',
    "src/connection/transport.ts":
      'import { wrap } from "comlink";\nimport type { Path } from "../protocol/path.js";\n',
    "src/protocol/path.ts": 'import "./keys.js";\n',
    "src/protocol/keys.ts": "",
    "src/testing/tabs.ts":
      'import type { Page } from "@playwright/test";\nimport "node:fs/promises";\nimport "../a.js";\n',
    "src/a.ts": "",
    "worker/main.ts": 'import { expose } from "comlink";\nimport "./database.js";\nimport "../src/protocol/path.js";\n',
    "worker/database.ts": 'import sqlite3InitModule from "@sqlite.org/sqlite-wasm";\n',
    "demo/main.ts": 'import { openStores } from "wakeful";\n',
    "test/conformance/index.ts": 'import { test } from "vitest";\nimport "../../src/protocol/path.js";\n',
    "test/unit/path.test.ts": 'import "../../src/protocol/path.js";\nimport "../../worker/database.js";\n',
  };
  expect(broken(files)).toEqual([]);
  expect(broken(files, "warn")).toEqual([]);
});

test.each([
  ["the protocol imports the page", "src/protocol/a.ts", 'import "../draft.js";', "direction"],
  ["the protocol imports a package", "src/protocol/a.ts", 'import { v7 } from "uuid";', "direction"],
  ["the protocol names a type of the page", "src/protocol/a.ts", 'type A = import("../draft.js").A;', "direction"],
  ["the page imports the worker", "src/a.ts", 'import type { A } from "../worker/a.js";', "direction"],
  ["the page imports a package that is no dependency", "src/a.ts", 'import "zod";', "direction"],
  ["the page imports the tools for tests", "src/a.ts", 'import "./testing/a.js";', "direction"],
  ["the tools for tests bring a package along", "src/testing/a.ts", 'import { test } from "vitest";', "direction"],
  ["the worker imports the page", "worker/a.ts", 'export * from "../src/draft.js";', "direction"],
  ["the demo reaches into the source", "demo/a.ts", 'import "../src/index.js";', "direction"],
  [
    "the conformance suite imports what is not published",
    "test/conformance/a.ts",
    'import "../support/a.js";',
    "direction",
  ],
  ["Comlink outside the connection", "src/a.ts", 'import { wrap } from "comlink";', "place"],
  ["Comlink in the worker outside its entry", "worker/stores.ts", 'import { wrap } from "comlink";', "place"],
  ["SQLite outside the database", "worker/stores.ts", 'import init from "@sqlite.org/sqlite-wasm";', "place"],
  ["SQLite loaded on demand outside the database", "worker/a.ts", 'await import("@sqlite.org/sqlite-wasm");', "place"],
  ["one concern's SQL imports another's", "worker/stores.ts", 'import "./ledger.js";', "concerns"],
  ["the source imports index.ts", "src/a.ts", 'import { openStores } from "./index.js";', "index"],
  ["index.ts holds more than exports", "src/index.ts", 'export { a } from "./a.js";\nconst b = 1;', "index"],
  ["index.ts exports everything", "src/index.ts", 'export * from "./a.js";', "index"],
  ["a cast to any", "test/unit/a.test.ts", `const a = b ${any};`, "any"],
  ["a cast without its reason", "src/a.ts", "const a = b as string;", "cast"],
  ["the compiler is silenced", "src/a.ts", `// ${ignore}\nconst a: string = 1;`, "ts-ignore"],
  ["a test keeps the others from running", "test/unit/a.test.ts", `${only}("a", () => {});`, "only"],
  ["a test is skipped without a reason", "test/tabs/a.spec.ts", `${skip}("a", () => {});`, "skip"],
  ["a path of one machine", "README.md", `Run it in ${home}/wakeful.`, "machine-path"],
  ["a file named for being of use", "src/utils.ts", "", "file-name"],
  ["a file name in camel case", "src/storeClient.ts", "", "file-name"],
  ["a lockfile that names a registry", "package-lock.json", '"resolved": "https://registry.example/a.tgz"', "lockfile"],
  ["a file of more than 500 lines", "src/a.ts", "\n".repeat(501), "file-length"],
])("the check fails when %s", (_, path, text, rule) => {
  const others = { "src/index.ts": "", "src/draft.ts": "", "worker/ledger.ts": "", "test/support/a.ts": "" };
  expect(broken({ ...others, [path]: text })).toEqual([`${rule} ${path}`]);
});

test("the check fails on a cycle of imports and names it once", () => {
  const files = {
    "src/a.ts": 'import "./b.js";',
    "src/b.ts": 'import type { C } from "./c.js";',
    "src/c.ts": 'export { a } from "./a.js";',
  };
  expect(broken(files)).toEqual(["cycle src/a.ts"]);
});

test("the check fails when two files of one side make BroadcastChannels", () => {
  const code = 'new BroadcastChannel("x");';
  expect(broken({ "src/a.ts": code, "worker/a.ts": code })).toEqual([]);
  expect(broken({ "src/a.ts": code, "src/b.ts": code })).toEqual([
    "broadcast-channel src/a.ts",
    "broadcast-channel src/b.ts",
  ]);
});

test("a file of more than 300 lines is a warning", () => {
  expect(broken({ "src/a.ts": "\n".repeat(301) }, "warn")).toEqual(["file-length src/a.ts"]);
});

test("reasons are accepted: a cast, a skip and a rename that say why", () => {
  const files = {
    "src/a.ts": "// Checked above.\nconst a = b as string;\n\nexport { c as d };\nconst e = [] as const;\n",
    "test/unit/a.test.ts": `// Firefox has no freeze event.\n${skip}("a", () => {});\n`,
  };
  expect(broken(files)).toEqual([]);
});

test("comments, strings, templates and regular expressions are not taken for code", () => {
  const text = [
    `// import "../draft.js"; b ${any}`,
    `const a = 'import "../draft.js"';`,
    'const b = `import "../draft.js" ${c ? `new BroadcastChannel` : "`"} ' + any + "`;",
    `const d = /["'\`]/.test(a) ? 1 / 2 / 3 : 0; /* ${only}( */`,
  ].join("\n");
  expect(broken({ "src/protocol/a.ts": text, "src/draft.ts": "" })).toEqual([]);
  expect(broken({ "src/protocol/a.ts": `${text}\nimport "../draft.js";`, "src/draft.ts": "" })).toEqual([
    "direction src/protocol/a.ts",
  ]);
});
