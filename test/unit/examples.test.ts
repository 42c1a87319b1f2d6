/** The examples in docstrings run, and do what they say. A new one needs a stage here, or a test in a browser. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineStore } from "../../src/define-store.js";
import { encodeDurable } from "../../src/protocol/durable-value.js";
import { createStores } from "../../src/stores.js";
import { openMemoryDatabase } from "../support/memory-connector.js";

const Inbox = defineStore("inbox", z.object({ messages: z.array(z.string()) }), { initial: () => ({ messages: [] }) });
const Order = defineStore("order", z.object({ items: z.array(z.string()) }), { initial: () => ({ items: [] }) });
const Stock = defineStore("stock", z.object({ left: z.number() }), { initial: () => ({ left: 3 }) });

interface Stage {
  /** What the example assumes to be there. */
  readonly scope: Readonly<Record<string, unknown>>;
  /** Names the example makes, of which the first is looked at; or what to look at instead. */
  readonly outcome: string;
  readonly expected: unknown;
}

const database = openMemoryDatabase();
const stores = createStores(database.connect());

/** By a part of the example's text. */
const stages: Readonly<Record<string, Stage>> = {
  "const Inbox = defineStore(": {
    scope: { z, defineStore },
    outcome: "Inbox.initial('x')",
    expected: { messages: [] },
  },
  "openStores({": {
    // In place of a worker with SQLite, which the tests in browsers have.
    scope: { openStores: async () => createStores(database.connect()), Inbox, look: stores.store(Inbox, "alice") },
    outcome: "(await look.get()).state",
    expected: { messages: ["hello"] },
  },
  "stores.transact(": {
    scope: { stores, order: stores.store(Order, "1"), stock: stores.store(Stock, "1"), item: "pear" },
    outcome: "[(await order.get()).state, (await stock.get()).state]",
    expected: [{ items: ["pear"] }, { left: 2 }],
  },
  "createStores(": {
    scope: { createStores, openMemoryDatabase, Inbox },
    outcome: "await stores.list(Inbox)",
    expected: [],
  },
  "encodeDurable(": {
    scope: { encodeDurable },
    outcome: "encodeDurable({ b: 1, a: -0 }).canonical",
    expected: '{"a":0,"b":1}',
  },
};

/** These need a browser, where a test does the same. */
const elsewhere: readonly string[] = ["new Response(stores.export())"];

const source = new URL("../../src", import.meta.url).pathname;

const examples = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/^(?:testing|recovery|connection)\//.test(file))
  .flatMap((file) => {
    const text = readFileSync(join(source, file), "utf8");
    return [...text.matchAll(/^ *\* @example\n((?: *\*(?!\/).*\n)*)/gm)].map((found) => ({
      file,
      line: text.slice(0, found.index).split("\n").length,
      code: (found[1] ?? "").replace(/^ *\* ?/gm, ""),
    }));
  })
  .filter(({ code }) => !elsewhere.some((part) => code.includes(part)));

test.each(examples)("stores Public surface: the example at $file:$line does what it says", async ({ code }) => {
  const stage = Object.entries(stages).find(([part]) => code.includes(part))?.[1];
  if (stage === undefined) throw new Error(`No stage fits this example: ${code}`);
  const { scope, outcome, expected } = stage;
  const body = `"use strict"; return (async () => {\n${code}\nreturn ${outcome};\n})();`;
  // oxlint-disable-next-line typescript/no-implied-eval -- running the text of an example is what this test is for
  const run = new Function(...Object.keys(scope), body) as (...given: unknown[]) => Promise<unknown>;
  expect(await run(...Object.values(scope))).toEqual(expected);
});

test("stores Public surface: every stage has its example", () => {
  for (const part of Object.keys(stages)) expect(examples.map(({ code }) => code).join()).toContain(part);
});
