/**
 * `npm run package:check`: the package as npm would publish it. publint and are-the-types-wrong find nothing; an app of
 * a few files installs the tarball, compiles, builds and runs with Vite and no configuration; importing it in Node does
 * nothing.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { CaseCounts } from "./case-counts.mjs";
import { checkNotes } from "./notes-check.mjs";
import { command, installApp, packPackage } from "./packed-package.mjs";
import { examplesOf } from "./readme-examples.mjs";
import { repository } from "./run.mjs";
import { viteOf } from "./vite-of.mjs";

const cases = new CaseCounts();
const packed = await packPackage();
try {
  await cases.run("publint finds nothing in the tarball", async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(packed.tarball);
    const tarball = buffer.slice(byteOffset, byteOffset + byteLength);
    const { messages, pkg } = await publint({ pack: { tarball }, level: "suggestion", strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });
  await cases.run("are-the-types-wrong finds nothing in the tarball", () =>
    command([join(repository, "node_modules/.bin/attw"), packed.tarball, "--profile", "esm-only"], packed.folder),
  );

  const app = await cases.run("an app installs the tarball", () => installApp(packed, "vite"));
  if (app !== undefined) await checkApp(app);
} finally {
  packed.remove();
}
cases.finish();

async function checkApp(app) {
  const bin = (name) => join(app, "node_modules/.bin", name);
  writeFileSync(join(app, "src/readme-examples.ts"), examplesOf(readFileSync(join(repository, "README.md"), "utf8")));
  await cases.run("the app and the README's examples compile, strict and with skipLibCheck off", () =>
    command([bin("tsc")], app),
  );
  await cases.run(
    "in Node importing does nothing, opening stores is a typed error, and wakeful/testing opens them in memory",
    () => command(["node", writeNodeProgram(app)], app),
  );
  const vite = await viteOf(app);
  if (await cases.run("vite build", () => vite.build().then(() => true))) {
    await checkNotes(cases, "vite build", await vite.preview());
    await vite.close();
  }
  await checkNotes(cases, "vite dev", await vite.dev());
  await vite.close();
}

function writeNodeProgram(app) {
  const path = join(app, "node-program.mjs");
  writeFileSync(
    path,
    `import assert from "node:assert/strict";
const globals = Object.keys(globalThis);
const { openStores } = await import("wakeful");
assert.deepEqual(Object.keys(globalThis), globals);
await assert.rejects(openStores({ name: "notes" }), { code: "storage-unavailable" });

const { openTestStores } = await import("wakeful/testing");
const { stores, close } = openTestStores();
assert.equal((await stores.storage()).kind, "memory");
await close();
`,
  );
  return path;
}
