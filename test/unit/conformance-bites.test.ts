import { describe, expect, test } from "vitest";
import type { ConformanceCase, ConformanceDatabase } from "../conformance/index.js";
import { conformanceCases } from "../conformance/index.js";
import { openMemoryDatabase } from "../support/memory-connector.js";
import { type Fault, faults } from "./broken-connectors.js";

const allCases = Object.values(conformanceCases).flat();

function caseNamed(beginning: string): ConformanceCase {
  const found = allCases.filter((candidate) => candidate.name.startsWith(beginning));
  if (found.length !== 1) throw new Error(`${found.length} cases begin with: ${beginning}`);
  return found[0]!; // There is exactly one.
}

function open(fault?: Fault): ConformanceDatabase {
  const database = openMemoryDatabase();
  return {
    connect: async () => {
      const sound = database.connect();
      return { ...sound, ...fault?.breaks(sound) };
    },
    restart: async () => database.restart(),
    close: () => database.close(),
  };
}

describe("the conformance suite catches", () => {
  // A lost event is only missed once the suite's patience has ended.
  test.concurrent.each(faults)("$name", { timeout: 30_000 }, async (fault) => {
    const conformanceCase = caseNamed(fault.caughtBy);
    await expect(conformanceCase.run(open(fault))).rejects.toBeInstanceOf(Error);
    // It is the fault that fails it, and not the way this test runs it.
    await conformanceCase.run(open());
  });
});

describe("the conformance suite", () => {
  test("has no two cases of one name", () => {
    const names = allCases.map((conformanceCase) => conformanceCase.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("begins every case with the line of the contract that it checks", () => {
    for (const { name } of allCases) expect(name).toMatch(/^(stores|tabs) (\d+|Limits|Public surface): |^C[1-6]: /);
  });
});
