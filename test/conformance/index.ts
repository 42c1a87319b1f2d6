/* oxlint-disable vitest/valid-title, vitest/expect-expect -- titles and assertions are those of the cases. */
/**
 * The conformance suite: what every StoreConnector must do, as tests for Vitest.
 *
 * ```ts
 * // my-connector.test.ts
 * import { describeStoreConnector } from "wakeful/conformance";
 * import { openMyDatabase } from "./my-connector.js";
 *
 * describeStoreConnector(
 *   "my connector",
 *   async ({ changesLimit }) => {
 *     const database = await openMyDatabase({ changesLimit });
 *     return {
 *       connect: () => database.openSession(),
 *       restart: () => database.replaceOwner(),
 *       close: () => database.destroy(),
 *     };
 *   },
 *   { peers: true, restart: true, durable: true, changesLimit: true },
 * );
 * ```
 */
import { describe, test } from "vitest";
import { changeCases } from "./changes.js";
import { callbackCases } from "./client-callbacks.js";
import { creationCases } from "./client-creation.js";
import { definitionCases } from "./client-definitions.js";
import { feedCases } from "./client-feeds.js";
import { observingCases } from "./client-observing.js";
import { stepCases } from "./client-steps.js";
import { takeCases } from "./client-takes.js";
import { transactionCases } from "./client-transactions.js";
import { updateCases } from "./client-updates.js";
import { commitCases } from "./commits.js";
import {
  type Capabilities,
  type ConformanceCase,
  missingCapability,
  type OpenConformanceDatabase,
} from "./conformance-case.js";
import { operationCases } from "./operations.js";
import { receiptCases } from "./receipts.js";
import { valueAndLimitCases } from "./values-and-limits.js";
import { waiterPathCases } from "./waiter-paths.js";
import { waiterCases } from "./waiters.js";
import { wakeCases } from "./wakes.js";

// What someone who writes a connector has to name.
export type { Change, StoreKey } from "../../src/protocol/change.js";
export type * from "../../src/protocol/connector.js";
export type { StorageReport, StoreEvent } from "../../src/protocol/events.js";
export type {
  Capabilities,
  ConformanceCase,
  ConformanceDatabase,
  ConformanceOptions,
  OpenConformanceDatabase,
} from "./conformance-case.js";

/** Generous, since a case may run beside others on a slow machine; a case that hangs fails all the same. */
const TIMEOUT_MS = 60_000;

/** Every case, by concern. Data, so that a tool other than Vitest could run it as well. */
export const conformanceCases: Readonly<Record<string, readonly ConformanceCase[]>> = {
  operations: operationCases,
  commits: commitCases,
  receipts: receiptCases,
  waiters: waiterCases,
  "waiters and paths": waiterPathCases,
  wakes: wakeCases,
  changes: changeCases,
  "values and limits": valueAndLimitCases,
  "client: creation": creationCases,
  "client: updates": updateCases,
  "client: callbacks": callbackCases,
  "client: takes and waits": takeCases,
  "client: steps": stepCases,
  "client: watching": observingCases,
  "client: transactions": transactionCases,
  "client: definition versions": definitionCases,
  "client: feeds, events and closing": feedCases,
};

/**
 * Declares the whole suite for one connector.
 *
 * @param name what the connector is called in test names
 * @param open opens an empty database for one case, which closes it when it is done
 * @param capabilities what the connector can do; a case that needs more is skipped and says why
 */
export function describeStoreConnector(name: string, open: OpenConformanceDatabase, capabilities: Capabilities): void {
  // Each case has a database of its own, so they need not wait for one another.
  describe.concurrent(name, () => {
    for (const [concern, cases] of Object.entries(conformanceCases)) {
      describe(concern, () => {
        for (const conformanceCase of cases) {
          test(conformanceCase.name, { timeout: TIMEOUT_MS }, async (context) => {
            const missing = conformanceCase.needs?.find((capability) => !capabilities[capability]);
            if (missing !== undefined) context.skip(missingCapability[missing]);
            const database = await open(conformanceCase.options ?? {});
            try {
              await conformanceCase.run(database);
            } finally {
              await database.close();
            }
          });
        }
      });
    }
  });
}
