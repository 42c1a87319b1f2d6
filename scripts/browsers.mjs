/**
 * Where the browsers are and how they are started. One place for Vitest, Playwright and the scripts, so that a
 * contributor's machine (Playwright's own downloads), Debian (system packages) and CI use the same tests unchanged.
 */
import { existsSync } from "node:fs";

/** Playwright's names of the browsers that every change is tested in. */
export const browserNames = ["chromium", "firefox"];

/** Debian's package of each browser and where it puts the executable. */
export const debian = {
  chromium: { package: "chromium", path: "/usr/bin/chromium", variable: "CHROMIUM_PATH" },
  firefox: { package: "firefox-esr", path: "/usr/bin/firefox-esr", variable: "FIREFOX_PATH" },
};

/** The executable of a browser, or undefined where Playwright's own download is to be used. */
export function browserPath(name) {
  if (!browserNames.includes(name)) throw new Error(`The tests know ${browserNames.join(" and ")}, not ${name}`);
  const { path, variable } = debian[name];
  const chosen = process.env[variable];
  if (chosen && !existsSync(chosen)) throw new Error(`${variable} names ${chosen}, which does not exist`);
  return chosen || (existsSync(path) ? path : undefined);
}

/** Launch options for Playwright, for `launch` and `launchPersistentContext` alike. */
export function launchOptions(name) {
  const executablePath = browserPath(name);
  const found = executablePath ? { executablePath } : {};
  if (name === "firefox") return executablePath ? { ...found, channel: "moz-firefox" } : found;
  return { ...found, args: chromiumArguments };
}

// Root has no sandbox; the rest keeps a Chromium without internet from waiting for its own services.
const chromiumArguments = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
  "--no-first-run",
];
