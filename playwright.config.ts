import { defineConfig } from "@playwright/test";
import { browserNames } from "./scripts/browsers.mjs";

// Several tabs, kills, restarts. Every test launches its own browser on its own folder (test/tabs/fixtures.ts): the
// contexts that Playwright makes by itself are incognito and say nothing about durability. Files named *.long.spec.ts run in
// `npm run test:long` only.
export default defineConfig({
  testDir: "test/tabs",
  testIgnore: process.env["WAKEFUL_LONG"] ? [] : ["**/*.long.spec.ts"],
  outputDir: ".cache/tabs",
  forbidOnly: Boolean(process.env["CI"]),
  fullyParallel: false,
  workers: 1,
  timeout: 60_000,
  reporter: "list",
  webServer: {
    command: "node test/tabs/serve.mjs",
    // The server takes a free port and says which: TABS_APP_URL reaches the tests through the environment.
    wait: { stdout: /tabs app at (?<TABS_APP_URL>\S+)/ },
    gracefulShutdown: { signal: "SIGTERM", timeout: 5_000 },
  },
  projects: browserNames.map((name) => ({ name, use: { browserName: name } })),
});
