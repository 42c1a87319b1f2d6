/**
 * `npm run recipes`: the README's recipes for other bundlers than Vite 8, tried: each installs the packed package into
 * an app of a few files, builds it as that bundler's users do, and runs in Chromium under a strict
 * Content-Security-Policy. Slow, since each bundler is installed anew: part of `npm run test:long`.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { chromium } from "playwright";
import { launchOptions } from "./browsers.mjs";
import { CaseCounts } from "./case-counts.mjs";
import { checkNotes } from "./notes-check.mjs";
import { command, installApp, packPackage } from "./packed-package.mjs";
import { serveFolder } from "./static-server.mjs";
import { viteOf } from "./vite-of.mjs";

/** The strictest policy that the README promises to work. */
const policy = {
  "default-src": "'none'",
  "script-src": "'self' 'wasm-unsafe-eval'",
  "worker-src": "'self'",
  "connect-src": "'self'",
  "img-src": "data:",
};

const cases = new CaseCounts();
const packed = await packPackage();
try {
  await tryBuild("webpack", (app) => {
    // Without any configuration webpack takes JavaScript, from src/index.js.
    stripTypes(join(app, "src/main.ts"), join(app, "src/index.js"));
    stripTypes(join(app, "src/options.ts"), join(app, "src/options.js"));
  });
  const app = await tryBuild("esbuild");
  if (app !== undefined) await checkPolicy(join(app, "dist"));
  await tryVite("vite-7");
} finally {
  packed.remove();
}
cases.finish();

async function tryBuild(name, prepare = () => {}) {
  const app = await cases.run(`${name}: the app installs the tarball and builds`, async () => {
    const folder = await installApp(packed, name);
    prepare(folder);
    await command(["npm", "run", "build"], folder);
    const page = readFileSync(join(folder, "index.html"), "utf8");
    writeFileSync(join(folder, "dist/index.html"), page.replace("/src/main.ts", "./main.js"));
    return folder;
  });
  if (app === undefined) return undefined;
  const server = await serveFolder(join(app, "dist"), policyHeader(policy));
  await checkNotes(cases, name, server.url);
  await server.close();
  return app;
}

/** What the README says happens where the policy leaves out WebAssembly: a typed error, and no page that hangs. */
async function checkPolicy(folder) {
  const server = await serveFolder(folder, policyHeader({ ...policy, "script-src": "'self'" }));
  const browser = await chromium.launch(launchOptions("chromium"));
  await cases.run("without 'wasm-unsafe-eval' opening rejects with storage-unavailable", async () => {
    const page = await browser.newPage();
    const failed = page.waitForEvent("pageerror", { timeout: 20_000 });
    await page.goto(server.url);
    assert.match((await failed).name, /^StorageUnavailableError$/);
  });
  await browser.close();
  await server.close();
}

async function tryVite(name) {
  const app = await cases.run(`${name}: the app installs the tarball`, () => installApp(packed, name));
  if (app === undefined) return;
  const vite = await viteOf(app);
  await cases.run(`${name} build`, () => vite.build());
  await checkNotes(cases, `${name} build`, await vite.preview());
  await vite.close();
  await checkNotes(cases, `${name} dev`, await vite.dev());
  await vite.close();
}

function policyHeader(directives) {
  const text = Object.entries(directives).map(([directive, value]) => `${directive} ${value}`);
  return { "content-security-policy": text.join("; ") };
}

function stripTypes(from, to) {
  writeFileSync(to, transformSync(readFileSync(from, "utf8"), { loader: "ts" }).code);
}
