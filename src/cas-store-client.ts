/**
 * CasStoreClient: the whole StoreClient over any connector, by read, compute and compare-and-swap. No I/O of its own.
 *
 * Owns: what each call computes, and its result. Does not own: how a commit is repeated (commit-loop.ts), what is known
 * of the stores (store-view.ts), how updaters run (draft.ts), how waits end (observation.ts).
 *
 * Whatever it returns is the caller's own copy, and what it keeps shares nothing with what callers passed in.
 */
import { checkDefinition, checkFunction } from "./check-arguments.js";
import { type Clock, systemClock } from "./clock.js";
import { type Base, type Call, CommitLoop } from "./commit-loop.js";
import type { StoreDefinition } from "./define-store.js";
import { applyUpdater } from "./draft.js";
import type { Logger } from "./logger.js";
import type { StoreConnector } from "./protocol/connector.js";
import { InvalidArgumentError } from "./protocol/errors.js";
import { checkIdentifier, MAX_PAGE } from "./protocol/limits.js";
import { encodePaths } from "./protocol/path.js";
import { checkStepId, deleteFromResult, forgotten, stepRecord, updateFromResult, updateResult } from "./receipts.js";
import { snapshotOf, withState } from "./snapshot.js";
import type {
  CallRequest,
  DeleteFromRequest,
  SnapshotReference,
  StoreAddress,
  StoreClient,
  StoreDeleteFrom,
  StoreHandle,
  StoreSnapshot,
  StoreStates,
  StoreTake,
  StoreUpdate,
  StoreUpdateFrom,
  StoreUpdates,
  TakeRequest,
  TransactRequest,
  UpdateFromRequest,
  UpdateRequest,
  VersionConflict,
  WaiterRegistered,
  WaiterRequest,
} from "./store-client.js";
import { StoreEvents } from "./store-events.js";
import { CasStoreHandle } from "./store-handle.js";
import { type AnyAddress, baseState, creationOf, nextVersion, storeOf, writeOf, writtenState } from "./store-write.js";
import { StoreView } from "./store-view.js";
import { takeOnce } from "./taking.js";
import { transact } from "./transaction.js";

export interface StoreClientOptions {
  readonly clock?: Clock;
  /** Milliseconds between two looks at the change feed while anybody waits; default 5,000. */
  readonly sweepInterval?: number;
  readonly logger?: Logger | undefined;
}

export class CasStoreClient implements StoreClient {
  /** For the parts of this library that build on the client. */
  readonly loop: CommitLoop;

  constructor(connector: StoreConnector, options: StoreClientOptions = {}) {
    const { clock = systemClock, sweepInterval = 5000, logger } = options;
    this.loop = new CommitLoop(new StoreView(connector, { clock, sweepInterval, events: new StoreEvents(logger) }));
  }

  store<State>(definition: StoreDefinition<State>, id: string): StoreHandle<State> {
    storeOf({ definition, id });
    return new CasStoreHandle(this, this.loop, definition, id);
  }

  async getStore<State>(address: StoreAddress<State>): Promise<StoreSnapshot<State>> {
    const { definition } = address;
    return this.#single<StoreSnapshot<State>>(address, {
      reading: "fresh",
      attempt: async (base) =>
        base.snapshot === null
          ? { writes: [await creationOf(definition, base)], again: true }
          : { answer: await snapshotOf(definition, base.snapshot) },
    });
  }

  async updateStore<State>(request: UpdateRequest<State>): Promise<StoreUpdate<State>> {
    const { definition, updater, stepId } = request;
    checkFunction("updater", updater);
    return this.#single<StoreUpdate<State>>(request, {
      reading: "cached",
      operation: "update",
      repeat: ([recorded]) => recorded as StoreUpdate<State>, // What updateResult wrote.
      attempt: async (base) => {
        const state: State = await baseState(definition, base);
        const written = await writtenState(definition, state, applyUpdater(state, updater));
        const next = nextVersion(base);
        const { previousVersion, version } = next;
        const { canonical } = written;
        const record = stepRecord(stepId, "update", () => updateResult(canonical, previousVersion, version));
        return {
          writes: [writeOf(definition, base, next, written, record)],
          result: withState((): State => JSON.parse(canonical), { previousVersion, version }),
        };
      },
    });
  }

  async updateStoreFrom<State>(request: UpdateFromRequest<State>): Promise<StoreUpdateFrom<State>> {
    const { definition, updater, stepId, snapshot } = request;
    checkFunction("updater", updater);
    return this.#single<StoreUpdateFrom<State>>(request, {
      reading: "cached",
      operation: "update-from",
      repeat: ([recorded]) => recorded as StoreUpdateFrom<State>, // What updateFromResult wrote.
      attempt: async (base) => {
        checkSnapshot(snapshot);
        if (base.snapshot === null) return { writes: [await creationOf(definition, base)], again: true };
        const conflict = conflictOf(snapshot, base.snapshot);
        if (conflict !== undefined) return { answer: { updated: false, ...conflict }, ifFresh: true };
        // On the stored state of that version: what the caller did to its copy must not leak into the commit.
        const state: State = await baseState(definition, base);
        const written = await writtenState(definition, state, applyUpdater(state, updater));
        const next = nextVersion(base);
        const { previousVersion, version } = next;
        const { canonical } = written;
        const record = stepRecord(stepId, "update-from", () => updateFromResult(canonical, previousVersion, version));
        return {
          writes: [writeOf(definition, base, next, written, record)],
          result: withState((): State => JSON.parse(canonical), { updated: true, previousVersion, version } as const),
        };
      },
    });
  }

  async takeFromStore<State, R>(request: TakeRequest<State, R>): Promise<StoreTake<R>> {
    return takeOnce(this.loop, request);
  }

  async deleteStoreFrom<State>(request: DeleteFromRequest<State>): Promise<StoreDeleteFrom> {
    const { definition, snapshot, stepId } = request;
    let isFirst = true;
    return this.#single<StoreDeleteFrom>(request, {
      reading: "none",
      operation: "delete-from",
      repeat: () => ({ deleted: true }),
      attempt: async (base) => {
        checkSnapshot(snapshot);
        const wasFirst = isFirst;
        isFirst = false;
        if (!wasFirst && base.snapshot === null) return { writes: [await creationOf(definition, base)], again: true };
        const conflict = wasFirst || base.snapshot === null ? undefined : conflictOf(snapshot, base.snapshot);
        if (conflict !== undefined) return { answer: { deleted: false, reason: "conflict", ...conflict } };
        const { instanceId, version } = snapshot;
        return {
          writes: [
            {
              entry: base.entry,
              after: null,
              changedPaths: [[]],
              operation: {
                type: "delete",
                ...base.entry.key,
                definitionVersion: definition.version,
                expected: { instanceId, version },
                ...stepRecord(stepId, "delete-from", () => deleteFromResult),
              },
            },
          ],
          result: { deleted: true },
        };
      },
    });
  }

  async transactStores<States extends StoreStates>(request: TransactRequest<States>): Promise<StoreUpdates<States>> {
    return transact(this.loop, request);
  }

  async deleteStore<State>(address: StoreAddress<State>): Promise<void> {
    const { definition } = address;
    return this.#single<void>(address, {
      reading: "none",
      attempt: ({ entry }) => ({
        writes: [
          {
            entry,
            after: null,
            changedPaths: [[]],
            operation: { type: "discard", ...entry.key, definitionVersion: definition.version },
          },
        ],
        result: undefined,
      }),
    });
  }

  async registerWaiter({ readPaths, ...waiter }: WaiterRequest): Promise<WaiterRegistered> {
    checkStepId(waiter);
    if (!Array.isArray(readPaths) || !readPaths.every(Array.isArray)) {
      throw new InvalidArgumentError(
        "`readPaths` must be a list of paths, such as those that a take which missed tells.",
      );
    }
    const registration = { ...waiter, readPaths: encodePaths(readPaths) };
    const outcome = await this.#connector.registerWaiter(registration);
    if (outcome.status === "execution-forgotten") throw forgotten(waiter);
    return { status: outcome.status };
  }

  async listStores<State>(definition: StoreDefinition<State>): Promise<string[]> {
    checkDefinition(definition);
    const { name: storeName } = definition;
    const ids: string[] = [];
    for (;;) {
      const after = ids.at(-1);
      const page = await this.#connector.listStores({
        storeName,
        limit: MAX_PAGE,
        ...(after === undefined ? {} : { after }),
      });
      ids.push(...page);
      if (page.length < MAX_PAGE) return ids;
    }
  }

  async forgetExecution(executionId: string): Promise<void> {
    checkIdentifier("execution id", executionId);
    await this.#connector.forgetExecution(executionId);
  }

  /** Ends what waits with ClosedError, lets the calls that were made finish, and closes the connector. Idempotent. */
  async close(): Promise<void> {
    this.loop.view.close();
    await this.loop.idle();
    await this.loop.view.connector.close();
  }

  get #connector(): StoreConnector {
    const { connector, closed } = this.loop.view;
    closed.throwIfAborted();
    return connector;
  }

  #single<Result>(
    request: AnyAddress & CallRequest,
    call: Omit<Call<Result>, "stores" | "attempt"> & {
      readonly attempt: (base: Base) => ReturnType<Call<Result>["attempt"]>;
    },
  ): Promise<Result> {
    const { signal, stepId } = request;
    checkStepId(stepId);
    return this.loop.run({
      ...call,
      stores: [storeOf(request)],
      signal,
      step: stepId,
      attempt: (bases) => call.attempt(bases[0] as Base), // One store, one base.
    });
  }
}

/** @throws InvalidArgumentError unless it names an instance and a version */
function checkSnapshot(snapshot: SnapshotReference): void {
  const { instanceId, version } = (snapshot ?? {}) as Partial<SnapshotReference>;
  if (typeof instanceId === "string" && instanceId !== "" && Number.isSafeInteger(version)) return;
  throw new InvalidArgumentError(
    "The snapshot names no instance and version: pass one that `get` or `peek` answered, or that an update started from. A missing store has none.",
  );
}

function conflictOf(expected: SnapshotReference, actual: SnapshotReference): VersionConflict | undefined {
  if (expected.instanceId === actual.instanceId && expected.version === actual.version) return undefined;
  return {
    expectedInstanceId: expected.instanceId,
    actualInstanceId: actual.instanceId,
    expectedVersion: expected.version,
    actualVersion: actual.version,
  };
}
