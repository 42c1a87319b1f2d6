/** Transactions: one updater over several stores, committed at once or not at all. */
import { checkFunction } from "./check-arguments.js";
import type { CommitLoop } from "./commit-loop.js";
import { applyTransaction } from "./draft.js";
import { InvalidArgumentError } from "./protocol/errors.js";
import { MAX_OPERATIONS } from "./protocol/limits.js";
import { checkStepId, mismatch, stepRecord, transactResult } from "./receipts.js";
import { withState } from "./snapshot.js";
import { keyText } from "./store-cache.js";
import type { StoreAddress, StoreStates, StoreUpdates, TransactRequest } from "./store-client.js";
import { baseState, nextVersion, storeOf, writeOf, writtenState } from "./store-write.js";
import type { Write } from "./store-view.js";

interface RecordedPart {
  readonly previousVersion: number;
  readonly state: unknown;
  readonly stores: number;
  readonly version: number;
}

/** @throws InvalidArgumentError when there is no store, too many, or one of them twice */
export async function transact<States extends StoreStates>(
  loop: CommitLoop,
  request: TransactRequest<States>,
): Promise<StoreUpdates<States>> {
  const { updater, signal, stepId } = request;
  checkStepId(stepId);
  checkFunction("updater", updater);
  // From here on names and addresses are handled alike, whatever their states; the request's type has paired them.
  const named = Object.entries((request.stores ?? {}) as unknown as Readonly<Record<string, StoreAddress<unknown>>>);
  const stores = named.map(([, address]) => storeOf(address));
  checkStores(stores.map(keyText));
  const byName = (parts: readonly unknown[]): StoreUpdates<States> =>
    Object.fromEntries(named.map(([name], index) => [name, parts[index]])) as StoreUpdates<States>;

  return loop.run<StoreUpdates<States>>({
    stores,
    reading: "cached",
    signal,
    step: stepId,
    operation: "transact",
    repeat: (recorded, step) => {
      const parts = recorded as readonly RecordedPart[]; // What transactResult wrote.
      if (parts.some((part) => part.stores !== stores.length)) throw mismatch(step, "it was used for other stores");
      return byName(parts.map(({ state, previousVersion, version }) => ({ state, previousVersion, version })));
    },
    attempt: async (bases) => {
      const states = await Promise.all(
        named.map(async ([name, { definition }], index) => {
          const base = bases[index];
          return [name, base === undefined ? undefined : await baseState(definition, base)] as const;
        }),
      );
      const before = Object.fromEntries(states);
      // The cast: the drafts have the names and states of the request.
      const revisions = applyTransaction(before, updater as (drafts: object) => void);
      const writes: Write[] = [];
      const parts: unknown[] = [];
      for (const [index, [name, { definition }]] of named.entries()) {
        const base = bases[index];
        const revision = revisions[name];
        if (base === undefined || revision === undefined) continue;
        const written = await writtenState(definition, before[name], revision);
        const next = nextVersion(base);
        const { previousVersion, version } = next;
        const { canonical } = written;
        const record = stepRecord(stepId, "transact", () =>
          transactResult(canonical, previousVersion, version, stores.length),
        );
        writes.push(writeOf(definition, base, next, written, record));
        parts.push(withState((): unknown => JSON.parse(canonical), { previousVersion, version }));
      }
      return { writes, result: byName(parts) };
    },
  });
}

function checkStores(keys: readonly string[]): void {
  if (keys.length === 0 || keys.length > MAX_OPERATIONS) {
    throw new InvalidArgumentError(`A transaction has ${keys.length} stores: give it 1 to ${MAX_OPERATIONS}.`, {
      limit: MAX_OPERATIONS,
    });
  }
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice === undefined) return;
  throw new InvalidArgumentError(
    `A transaction names the store "${twice.replace("\0", "/")}" twice: give each store one name.`,
  );
}
