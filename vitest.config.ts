import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { browserNames, launchOptions } from "./scripts/browsers.mjs";

// Projects: unit (Node), chromium and firefox (browser mode: real workers, real OPFS). No COOP/COEP anywhere: the
// library must work without cross-origin isolation.
// Files named *.long.test.ts run in `npm run test:long` only.
const exclude = process.env["WAKEFUL_LONG"] ? [] : ["**/*.long.test.ts"];

export default defineConfig({
  optimizeDeps: {
    // sqlite-wasm finds its .wasm beside its own module; pre-bundling would move the module away from it.
    exclude: ["@sqlite.org/sqlite-wasm"],
    // Vite does not look into workers for these; found only when one runs, they would reload the page in mid-test.
    include: ["comlink", "uuid"],
  },
  worker: { format: "es" },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          environment: "node",
          // Properties try many cases: on a machine that is busy with other things Vitest's 5 s are too few.
          testTimeout: 30_000,
          exclude,
          include: ["test/unit/**/*.test.ts", "test/conformance/node/**/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          exclude,
          include: ["test/browser/**/*.test.ts"],
          // Files share one origin and so one OPFS; one at a time keeps their timings apart on two cores.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            instances: browserNames.map((browser) => ({
              browser,
              name: browser,
              provider: playwright({ launchOptions: launchOptions(browser) }),
            })),
          },
        },
      },
    ],
  },
});
