/** Short ways to write requests, so that a case shows only what matters to it. */
import type { StoreKey } from "../../src/protocol/change.js";
import type {
  CommitOperation,
  CommitOutcome,
  CreateOperation,
  DeleteOperation,
  DiscardOperation,
  ExpectedVersion,
  OperationVerdict,
  ReplaceOperation,
  StepId,
  StepRecord,
  StoreConnector,
  StoredSnapshot,
  WaiterRegistration,
} from "../../src/protocol/connector.js";
import { encodePaths, type StorePath } from "../../src/protocol/path.js";

export const ROOT: string = encodePaths([[]]);

/** The canonical text of paths, each given as its keys. */
export function paths(...list: readonly StorePath[]): string {
  return encodePaths(list);
}

export function key(storeId: string, storeName = "conformance"): StoreKey {
  return { storeName, storeId };
}

export function step(executionId: string, stepKey = "step"): StepId {
  return { executionId, stepKey };
}

export function record(executionId: string, stepKey = "step", more: Partial<StepRecord> = {}): StepRecord {
  return { executionId, stepKey, operation: "update", result: `"${executionId}"`, ...more };
}

let instances = 0;

/** An instance id as a client would choose it: unique, lower-case, hyphened. */
export function instanceId(): string {
  instances += 1;
  return `00000000-0000-7000-8000-${instances.toString(16).padStart(12, "0")}`;
}

type More<T extends CommitOperation> = Partial<Omit<T, "type" | "storeId">>;

export function create(storeId: string, state: string, more: More<CreateOperation> = {}): CreateOperation {
  return {
    type: "create",
    ...key(storeId),
    definitionVersion: 1,
    instanceId: instanceId(),
    version: 0,
    state,
    changedPaths: ROOT,
    ...more,
  };
}

export function replace(
  storeId: string,
  expected: ExpectedVersion,
  state: string,
  more: More<ReplaceOperation> = {},
): ReplaceOperation {
  return {
    type: "replace",
    ...key(storeId),
    definitionVersion: 1,
    expected: versionOf(expected),
    state,
    changedPaths: ROOT,
    ...more,
  };
}

export function remove(storeId: string, expected: ExpectedVersion, more: More<DeleteOperation> = {}): DeleteOperation {
  return { type: "delete", ...key(storeId), definitionVersion: 1, expected: versionOf(expected), ...more };
}

export function discard(storeId: string, more: More<DiscardOperation> = {}): DiscardOperation {
  return { type: "discard", ...key(storeId), definitionVersion: 1, ...more };
}

/** Only what a write may expect: a snapshot has more fields than its request. */
function versionOf({ instanceId: id, version }: ExpectedVersion): ExpectedVersion {
  return { instanceId: id, version };
}

export function waiter(
  storeId: string,
  read: ExpectedVersion,
  executionId: string,
  more: Partial<WaiterRegistration> = {},
): WaiterRegistration {
  return {
    workflowId: "workflow",
    ...step(executionId),
    ...key(storeId),
    instanceId: read.instanceId,
    sinceVersion: read.version,
    readPaths: ROOT,
    ...more,
  };
}

/** Commits what must succeed; answers its sequence. */
export async function commit(connector: StoreConnector, ...operations: readonly CommitOperation[]): Promise<number> {
  const outcome = await connector.commit({ operations });
  if (outcome.status !== "committed") {
    throw new Error(`A commit that nothing stands against was refused: ${JSON.stringify(outcome)}`);
  }
  return outcome.sequence;
}

/** Commits what must be refused; answers the verdicts. */
export async function refused(
  connector: StoreConnector,
  ...operations: readonly CommitOperation[]
): Promise<readonly OperationVerdict[]> {
  const outcome: CommitOutcome = await connector.commit({ operations });
  if (outcome.status !== "rejected") {
    throw new Error(`A commit that must be refused was written: ${JSON.stringify(operations)}`);
  }
  return outcome.verdicts;
}

export async function snapshot(connector: StoreConnector, storeId: string): Promise<StoredSnapshot | null> {
  return (await connector.readStore(key(storeId))).snapshot;
}

/** The snapshot of a store that must exist. */
export async function present(connector: StoreConnector, storeId: string): Promise<StoredSnapshot> {
  const found = await snapshot(connector, storeId);
  if (found === null) throw new Error(`The store ${storeId} is missing.`);
  return found;
}

/** Creates a store and answers what was written. */
export async function seed(
  connector: StoreConnector,
  storeId: string,
  state = "{}",
  more: More<CreateOperation> = {},
): Promise<StoredSnapshot> {
  await commit(connector, create(storeId, state, more));
  return present(connector, storeId);
}

/** Writes the next version of a store, whatever its version is, and answers what was written. */
export async function write(
  connector: StoreConnector,
  storeId: string,
  state: string,
  more: More<ReplaceOperation> = {},
): Promise<StoredSnapshot> {
  await commit(connector, replace(storeId, await present(connector, storeId), state, more));
  return present(connector, storeId);
}

/** The executions whose wakes are requested now, which is all the database knows: there is nothing to wait for. */
export async function woken(connector: StoreConnector): Promise<readonly string[]> {
  const wakes = await connector.readWakes({ limit: 10_000, claim: false });
  return wakes.map((wake) => wake.executionId).sort();
}

/** Acknowledges every wake, so that the next commit's stand alone. */
export async function settle(connector: StoreConnector): Promise<void> {
  for (const wake of await connector.readWakes({ limit: 10_000, claim: false })) await connector.acknowledgeWake(wake);
}

export const changed = (...list: readonly StorePath[]): { readonly changedPaths: string } => ({
  changedPaths: paths(...list),
});
export const reads = (...list: readonly StorePath[]): { readonly readPaths: string } => ({ readPaths: paths(...list) });

/** What a rejected call rejected with. In place of `expect(…).rejects`, which knows only one test at a time. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => {
      throw new Error(`The call must fail, but it answered ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
