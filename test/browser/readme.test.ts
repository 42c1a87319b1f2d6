/**
 * The examples of README.md, run in the order in which they stand there, on a real worker and real OPFS. They have no
 * type annotations, so that they run as they are; package-check.mjs compiles them.
 */
import { expect, test } from "vitest";
import * as zod from "zod";
import readme from "../../README.md?raw";
import { examplesOf } from "../../scripts/readme-examples.mjs";
import * as wakeful from "../../src/index.js";

const modules: Readonly<Record<string, unknown>> = { wakeful, zod };
const printing = /console\.log\(.*\);(?: \/\/ (.*))?$/gm;

test("the examples of the README print what they say they print", async () => {
  const examples = examplesOf(readme);
  const promised = [...examples.matchAll(printing)].map(([, comment]) => comment);
  const printed: string[] = [];
  const log = (...values: unknown[]): void => {
    printed.push(values.map((value) => JSON.stringify(value)).join(" "));
  };

  await program(examples)(modules, { log });

  expect(promised.length).toBeGreaterThan(3);
  expect(printed.map(withoutSpaces)).toEqual(promised.map((text = "nothing") => withoutSpaces(text)));
  expect(document.title).toMatch(/^\d+ unread$/);
});

type Program = (
  modules: Readonly<Record<string, unknown>>,
  console: { log: typeof globalThis.console.log },
) => Promise<void>;

/** The examples as a function: what they import is taken from `modules`, and at the end they close their stores. */
function program(examples: string): Program {
  const body = examples.replaceAll(/^import (\{.*?\}) from ("[^"]+");$/gm, "const $1 = modules[$2];");
  // The only way to run text that awaits at its top level; the constructor has no global name.
  const AsyncFunction = (async () => {}).constructor as new (...parameters: string[]) => Program;
  return new AsyncFunction("modules", "console", `${body}\nawait stores.close();`);
}

function withoutSpaces(text: string): string {
  return text.replaceAll(" ", "");
}
