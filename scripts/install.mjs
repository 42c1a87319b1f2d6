/**
 * Brings what is missing: the packages of the lockfile and, unless `--no-browsers`, the browsers of the tests. Quick
 * and quiet where everything is there, so that every command can begin with it.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { browserNames, browserPath, debian } from "./browsers.mjs";
import { must, repository } from "./run.mjs";

const lock = join(repository, "package-lock.json");
const installed = join(repository, "node_modules/.package-lock.json");
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  // Audit and funding ask the network for what no test needs.
  await must(["npm", "ci", "--no-audit", "--no-fund"]);
}
if (!process.argv.includes("--no-browsers")) await installBrowsers(browserNames.filter((name) => !browserPath(name)));

async function installBrowsers(missing) {
  if (missing.length === 0) return;
  if (isRootOnDebian()) {
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    const packages = missing.map((name) => debian[name].package);
    const apt = ["apt-get", "-q", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=120"];
    await must([...apt, "update"], { env });
    await must([...apt, "install", "-y", ...packages, "fonts-dejavu-core"], { env });
  } else {
    await must(["playwright", "install", ...missing]);
  }
}

function isRootOnDebian() {
  if (process.getuid?.() !== 0 || !existsSync("/etc/os-release")) return false;
  return /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
}
