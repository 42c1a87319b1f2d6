/**
 * `node scripts/measure-export.mjs`: what exporting, checking and importing a large database costs. Prints times, the
 * longest that a call of another tab had to wait meanwhile, and the memory of the process that owner and page share.
 * `--megabytes 200`, `--browser chromium`. Linux only: memory is read from /proc.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import playwright from "playwright";
import { build, preview } from "vite";
import { launchOptions } from "./browsers.mjs";
import { repository } from "./run.mjs";

const { values } = parseArgs({
  options: { megabytes: { type: "string", default: "200" }, browser: { type: "string", default: "chromium" } },
});
mkdirSync(join(repository, ".cache"), { recursive: true });
const outDir = mkdtempSync(join(repository, ".cache/measure-"));
const profile = mkdtempSync(join(tmpdir(), "wakeful-measure-"));
const settings = {
  configFile: false,
  root: join(repository, "test/tabs/app"),
  logLevel: "error",
  worker: { format: "es" },
  build: { outDir, emptyOutDir: true, target: "es2022" },
};
await build(settings);
const server = await preview({ ...settings, preview: { host: "localhost", port: 0 } });
const launch = launchOptions(values.browser);
const context = await playwright[values.browser].launchPersistentContext(profile, {
  ...launch,
  args: [...(launch.args ?? []), ...(values.browser === "chromium" ? ["--site-per-process"] : [])],
});
try {
  await measureAll(server.resolvedUrls.local[0]);
} finally {
  await context.close();
  await server.close();
  for (const folder of [outDir, profile]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function measureAll(url) {
  console.log(`load at the start ${loadavg()[0].toFixed(1)}, ${values.browser}`);
  const owner = await openTab(url, "large");
  await owner.evaluate(async (megabytes) => {
    const { stores, Queue } = window.page;
    // 100 KB in each store.
    for (let n = 0; n < megabytes * 10; n += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          stores.store(Queue, `${n + index}`).update((draft) => void draft.waiting.push("x".repeat(100_000))),
        ),
      );
    }
  }, Number(values.megabytes));
  // Another page, so that the process of the first is that of the owner and of whoever exports.
  const other = await openTab(url, "large");
  await report("nothing", owner, other, () => new Promise((resolve) => setTimeout(resolve, 3000)));
  await report("export", owner, other, async () => {
    const reader = window.page.stores.export().getReader();
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return `${(bytes / 1e6).toFixed(0)} MB`;
      bytes += value.length;
    }
  });
  await report("check", owner, other, async () => (await window.page.stores.checkIntegrity()).status);
  await report("import", owner, other, async () => {
    // Kept by the browser on the disk, not in the page.
    const root = await navigator.storage.getDirectory();
    const handle = await root.getFileHandle("exported", { create: true });
    await window.page.stores.export().pipeTo(await handle.createWritable());
    const started = performance.now();
    let since = started;
    const longest = { reading: 0, checking: 0 };
    await window.page.stores.import(await handle.getFile(), {
      onProgress: ({ stage }) => {
        const now = performance.now();
        longest[stage] = Math.max(longest[stage], now - since);
        since = now;
      },
    });
    const now = performance.now();
    return (
      `${(now - started).toFixed(0)} ms of it the import; its longest slice ${longest.reading.toFixed(0)} ms, ` +
      `longest part of the check ${longest.checking.toFixed(0)} ms, replacement ${(now - since).toFixed(0)} ms`
    );
  });
}

async function openTab(url, name) {
  const page = await context.newPage();
  await page.goto(url);
  await page.locator("html[data-ready=true]").waitFor({ state: "attached" });
  await page.evaluate((given) => window.page.open({ name: given }).then(() => undefined), name);
  return page;
}

/** Runs `work` in the owner's page, while another page calls without a pause. */
async function report(what, page, other, work) {
  await other.evaluate(() => {
    window.page.counting = true;
    window.page.ended = (async () => {
      let longest = 0;
      let calls = 0;
      for (; window.page.counting; calls++) {
        const since = performance.now();
        await window.page.stores.storage();
        longest = Math.max(longest, performance.now() - since);
      }
      return { longest: Math.round(longest), calls };
    })();
  });
  const before = residentMegabytes();
  let peak = before;
  const sampling = setInterval(() => {
    const now = residentMegabytes();
    peak = Object.fromEntries(Object.entries(now).map(([pid, size]) => [pid, Math.max(size, peak[pid] ?? 0)]));
  }, 50);
  const started = performance.now();
  const answer = await page.evaluate(work);
  const took = performance.now() - started;
  clearInterval(sampling);
  const { longest, calls } = await other.evaluate(() => {
    window.page.counting = false;
    return window.page.ended;
  });
  const growth = Math.max(...Object.entries(peak).map(([pid, size]) => size - (before[pid] ?? size)));
  console.log(
    `${what.padEnd(8)} ${took.toFixed(0).padStart(7)} ms, longest call of another tab ${String(longest).padStart(5)} ms of ${calls}, ` +
      `most that a process grew ${growth.toFixed(0)} MB${answer === undefined ? "" : `, ${answer}`}`,
  );
}

/** Of each process that runs pages of this browser: megabytes in memory. */
function residentMegabytes() {
  const sizes = {};
  for (const pid of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const isOfThisBrowser = command.includes(profile) || isBelowThisProcess(pid);
      if (!isOfThisBrowser || !/--type=renderer|-contentproc/.test(command)) continue;
      sizes[pid] = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
    } catch {
      // It ended while it was looked at.
    }
  }
  return sizes;
}

function isBelowThisProcess(pid) {
  for (let at = pid; Number(at) > 1; ) {
    if (Number(at) === process.pid) return true;
    const text = readFileSync(`/proc/${at}/stat`, "utf8");
    [, at] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  }
  return false;
}
