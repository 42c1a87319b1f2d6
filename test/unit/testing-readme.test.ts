/** The example of unit tests in src/testing/README.md, run as it stands there. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { examplesOf } from "../../scripts/readme-examples.mjs";
import { defineStore } from "../../src/index.js";
import * as testing from "../../src/testing/index.js";

const Inbox = defineStore("inbox", z.object({ messages: z.array(z.string()) }), { initial: () => ({ messages: [] }) });

test("the example of unit tests prints what it says it prints", async () => {
  const readme = readFileSync(new URL("../../src/testing/README.md", import.meta.url), "utf8");
  // Up to the part on tabs, which takes a browser (test/tabs/tools.spec.ts).
  const [forUnitTests = ""] = readme.split("\n## Tabs for tests");
  const example = examplesOf(forUnitTests).replace(
    /^import (\{.*?\}) from "wakeful\/testing";$/m,
    "const $1 = testing;",
  );
  const promised = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
  const printed: string[] = [];
  const log = (value: unknown): void => void printed.push(JSON.stringify(value));
  // The only way to run text that awaits at its top level; the constructor has no global name.
  const AsyncFunction = (async () => {}).constructor as new (
    ...parameters: string[]
  ) => (modules: typeof testing, definition: typeof Inbox, console: { log: typeof log }) => Promise<void>;
  await new AsyncFunction("testing", "Inbox", "console", example)(testing, Inbox, { log });
  expect(printed).toEqual(promised);
  expect(printed).toEqual(["1", '"timed-out"', "1"]);
});
