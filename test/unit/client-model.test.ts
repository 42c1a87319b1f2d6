import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StoreConnector } from "../../src/protocol/connector.js";
import { faults } from "./broken-connectors.js";
import { checkRun } from "./check-run.js";
import { type Program, programs } from "./client-program.js";
import { runProgram } from "./run-program.js";

// MODEL_RUNS=20000 for a long search; MODEL_SEED and MODEL_PATH, as a failure tells them, to see it again.
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH } = process.env;

/** Looks for a program and an order of its calls that break the contract. */
function search(
  runs: number,
  breaks?: (sound: StoreConnector) => Partial<StoreConnector>,
): Promise<fc.RunDetails<[Program, fc.Scheduler]>> {
  const property = fc.asyncProperty(programs, fc.scheduler(), async (program, scheduler) => {
    checkRun(await runProgram(program, scheduler, breaks));
  });
  return fc.check(property, {
    numRuns: runs,
    // Shrinking costs more than searching; only what must not fail is worth it.
    endOnFailure: breaks !== undefined,
    ...(MODEL_SEED === undefined ? {} : { seed: Number(MODEL_SEED) }),
    ...(MODEL_PATH === undefined || breaks !== undefined ? {} : { path: MODEL_PATH }),
    ...(MODEL_RUNS === undefined ? { interruptAfterTimeLimit: 15_000 } : {}),
  });
}

test("stores 1, 4, 5, 6, 7, 8, 9, 12, 18, 20: whatever two clients do at once, each call is right at one moment", {
  timeout: 3_600_000,
}, async () => {
  const found = await search(Number(MODEL_RUNS ?? 1000));
  if (found.failed) throw new Error(fc.defaultReportMessage(found), { cause: found.errorInstance });
  expect(found.numRuns).toBeGreaterThan(0);
});

/** Breaks what only a client can suffer from, and the suite's cases look at one call at a time for. */
const clientFaults = [
  ...faults.filter(({ name }) =>
    [
      "a registration that can be overtaken by a commit",
      "receipts that are not written",
      "versions that are not checked",
      "operations that take a sequence each",
    ].includes(name),
  ),
  {
    name: "readings that are one behind",
    breaks: (sound: StoreConnector): Partial<StoreConnector> => {
      const last = new Map<string, Awaited<ReturnType<StoreConnector["readStore"]>>>();
      return {
        readStore: async (key) => {
          const reading = await sound.readStore(key);
          const behind = last.get(key.storeId) ?? reading;
          last.set(key.storeId, reading);
          return { ...behind, sequence: reading.sequence };
        },
      };
    },
  },
  {
    name: "commits that are applied twice",
    breaks: (sound: StoreConnector): Partial<StoreConnector> => ({
      commit: async (request, options) => {
        const outcome = await sound.commit(request, options);
        const [operation] = request.operations;
        if (outcome.status === "committed" && operation?.type === "replace" && operation.step === undefined) {
          const { instanceId, version } = operation.expected;
          await sound.commit({ operations: [{ ...operation, expected: { instanceId, version: version + 1 } }] });
        }
        return outcome;
      },
    }),
  },
];

test.each(clientFaults)("the model test notices $name", { timeout: 60_000 }, async (fault) => {
  expect((await search(2000, (sound) => fault.breaks(sound))).failed).toBe(true);
});
