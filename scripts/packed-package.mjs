/** The package as npm would publish it, and apps that have it installed, in a folder that is removed at the end. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "./run.mjs";

const apps = join(repository, "test/package");

/** Builds and packs the package. `tarball` is its path; `remove` removes all that this made. */
export async function packPackage() {
  const folder = mkdtempSync(join(tmpdir(), "wakeful-package-"));
  await command(["npm", "pack", "--silent", "--pack-destination", folder], repository);
  const [name] = readdirSync(folder);
  return {
    folder,
    tarball: join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/**
 * Copies the app `test/package/<name>` with the source that all of them share, and installs it; its package.json finds
 * the tarball beside itself as wakeful.tgz. Answers the app's folder.
 */
export async function installApp(packed, name) {
  const folder = join(packed.folder, name);
  cpSync(join(apps, "app"), folder, { recursive: true });
  cpSync(join(apps, name), folder, { recursive: true });
  cpSync(packed.tarball, join(folder, "wakeful.tgz"));
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  checkVersions(name, { ...dependencies, ...devDependencies });
  await command(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--no-package-lock"], folder);
  return folder;
}

/** Runs a command to its end. Throws with what it printed when it fails. */
export async function command([program, ...args], cwd) {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      cwd,
      shell: process.platform === "win32",
      maxBuffer: 1 << 24,
      timeout: 5 * 60_000,
    });
    return stdout;
  } catch (error) {
    throw new Error(`${[program, ...args].join(" ")} failed:\n${error.stdout ?? ""}${error.stderr ?? error.message}`, {
      cause: error,
    });
  }
}

// What an app and this repository both use has one version, so that an update here is an update there; another major
// version is there on purpose.
function checkVersions(name, versions) {
  const ours = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")).devDependencies;
  const major = (version) => version.split(".")[0];
  for (const [dependency, version] of Object.entries(versions)) {
    const own = ours[dependency];
    if (own !== undefined && own !== version && major(own) === major(version))
      throw new Error(`test/package/${name} has ${dependency} ${version}, and this repository ${own}`);
  }
}
