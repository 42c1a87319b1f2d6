import * as fc from "fast-check";
import { expect, test } from "vitest";
import type {
  CommitOperation,
  ExpectedVersion,
  StepOperation,
  StoreConnector,
  StoredSnapshot,
  Wake,
} from "../../src/protocol/connector.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import { encodePaths } from "../../src/protocol/path.js";
import { instanceId } from "../conformance/requests.js";
import { manualClock } from "../support/manual-clock.js";
import { openMemoryDatabase } from "../support/memory-connector.js";
import { openNodeDatabase } from "../support/node-sqlite.js";

/** The SQL side and the plain Maps share no logic; what they answer to the same calls has to be the same all the same. */
interface Side {
  readonly sessions: readonly StoreConnector[];
  readonly events: unknown[];
  restart(): void;
  close(): Promise<void>;
}

/** A call, before it is known what the database holds. */
type Call =
  | { readonly type: "commit"; readonly operations: readonly OperationPlan[] }
  | {
      readonly type: "wait";
      readonly storeId: string;
      readonly step: StepPlan;
      readonly paths: string;
      readonly stale: Stale;
    }
  | { readonly type: "applied"; readonly storeId: string; readonly step: StepPlan }
  | { readonly type: "claim" }
  | { readonly type: "acknowledge"; readonly executionId: string; readonly late: boolean }
  | { readonly type: "release"; readonly executionId: string }
  | { readonly type: "forget"; readonly executionId: string }
  | { readonly type: "restart" };

type Stale = "present" | "older version" | "newer version" | "other instance";
interface StepPlan {
  readonly executionId: string;
  readonly stepKey: string;
}
interface OperationPlan {
  readonly storeId: string;
  readonly type: CommitOperation["type"];
  readonly stale: Stale;
  readonly definitionVersion: number;
  readonly step: (StepPlan & { readonly operation: StepOperation }) | undefined;
  readonly paths: string;
}

const storeId = fc.constantFrom("a", "b", "ab");
const executionId = fc.constantFrom("e1", "e2", "e3", "e4");
const step = fc.record({ executionId, stepKey: fc.constantFrom("s", "t") });
const stale: fc.Arbitrary<Stale> = fc.oneof(
  { weight: 6, arbitrary: fc.constant("present" as const) },
  { weight: 1, arbitrary: fc.constantFrom("older version", "newer version", "other instance") },
);
const path = fc.array(fc.constantFrom("x", "y", 0, 1, "0"), { maxLength: 3 });
const paths = fc.array(path, { minLength: 1, maxLength: 4 }).map((list) => encodePaths(list));
const operation: fc.Arbitrary<OperationPlan> = fc.record({
  storeId,
  type: fc.oneof(
    { weight: 6, arbitrary: fc.constant("replace" as const) },
    { weight: 1, arbitrary: fc.constantFrom("create", "delete", "discard") },
  ),
  stale,
  definitionVersion: fc.oneof(
    { weight: 9, arbitrary: fc.constant(2) },
    { weight: 1, arbitrary: fc.constantFrom(1, 3) },
  ),
  step: fc.option(
    fc.tuple(step, fc.constantFrom<StepOperation>("update", "take")).map(([id, kind]) => ({ ...id, operation: kind })),
    { nil: undefined, freq: 2 },
  ),
  paths,
});
const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      type: fc.constant("commit" as const),
      operations: fc.uniqueArray(operation, { minLength: 1, maxLength: 3, selector: (plan) => plan.storeId }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("wait" as const), storeId, step, paths, stale }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("applied" as const), storeId, step }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("claim" as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("acknowledge" as const), executionId, late: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("release" as const), executionId }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("forget" as const), executionId: fc.constantFrom("e1", "e2") }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("restart" as const) }) },
);
const calls = fc.array(fc.tuple(fc.nat(1), call), { minLength: 10, maxLength: 60 });

test("stores 5 to 13: whatever is called, SQLite answers, keeps and tells what the plain Maps do", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(calls, async (script) => {
      const sides = [await openSqlite(), openMaps()];
      try {
        for (const [session, planned] of script) {
          const request = await resolve(planned, sides[1]?.sessions[0]);
          const outcomes = await Promise.all(sides.map((side) => perform(side, session, request)));
          expect(outcomes[0]).toEqual(outcomes[1]);
          count(seen, outcomes[1]);
        }
        const [sqlite, maps] = await Promise.all(sides.map(contents));
        expect(sqlite).toEqual(maps);
      } finally {
        for (const side of sides) await side.close();
      }
    }),
    { numRuns: 100 },
  );
  // The scripts reach what they are to compare.
  const statuses = [
    "committed",
    "conflict",
    "missing",
    "already-applied",
    "execution-forgotten",
    "definition-outdated",
    "woken",
  ];
  expect(statuses.filter((status) => (seen.get(status) ?? 0) < 10)).toEqual([]);
}, 60_000);

/** A request that both sides can be given: with the versions and the instances of now, or with wrong ones on purpose. */
type Request =
  | Exclude<Call, { type: "commit" | "wait" }>
  | { type: "commit"; operations: CommitOperation[] }
  | WaitRequest;
interface WaitRequest extends Omit<Extract<Call, { type: "wait" }>, "stale"> {
  readonly expected: ExpectedVersion;
}

async function resolve(planned: Call, connector: StoreConnector | undefined): Promise<Request> {
  const read = async (id: string): Promise<StoredSnapshot | null> =>
    (await connector?.readStore({ storeName: "model", storeId: id }))?.snapshot ?? null;
  if (planned.type === "wait") {
    return { ...planned, expected: expectation(await read(planned.storeId), planned.stale) };
  }
  if (planned.type !== "commit") return planned;
  const operations = planned.operations.map(async (plan): Promise<CommitOperation> => {
    const base = {
      storeName: "model",
      storeId: plan.storeId,
      definitionVersion: plan.definitionVersion,
      ...(plan.step === undefined ? {} : { step: { ...plan.step, result: JSON.stringify(plan) } }),
    };
    const current = await read(plan.storeId);
    const expected = expectation(current, plan.stale);
    const written = { state: JSON.stringify(plan), changedPaths: plan.paths };
    // Most writes are to succeed, so that there is something to compare.
    const type = plan.type === "replace" && current === null && plan.stale === "present" ? "create" : plan.type;
    switch (type) {
      case "create":
        return {
          ...base,
          ...written,
          type: "create",
          instanceId: instanceId(),
          version: plan.stale === "present" ? 0 : 1,
        };
      case "replace":
        return { ...base, ...written, type: "replace", expected };
      case "delete":
        return { ...base, type: "delete", expected };
      case "discard":
        return { ...base, type: "discard" };
    }
  });
  return { type: "commit", operations: await Promise.all(operations) };
}

function expectation(current: StoredSnapshot | null, how: Stale): ExpectedVersion {
  const version = current?.version ?? 0;
  const id = current?.instanceId ?? "no-instance";
  if (how === "older version") return { instanceId: id, version: Math.max(version - 1, 0) };
  if (how === "newer version") return { instanceId: id, version: version + 1 };
  return { instanceId: how === "other instance" ? "another-instance" : id, version };
}

async function perform(side: Side, session: number, request: Request): Promise<unknown> {
  const connector = side.sessions[session] as StoreConnector; // There are two, and the script says 0 or 1.
  switch (request.type) {
    case "commit":
      return connector.commit({ operations: request.operations });
    case "wait": {
      const { storeId: id, step: waiting, paths: readPaths, expected } = request;
      const { instanceId: instance, version } = expected;
      return connector.registerWaiter({
        ...{ workflowId: "w", storeName: "model", storeId: id, instanceId: instance, sinceVersion: version, readPaths },
        ...waiting,
      });
    }
    case "applied":
      return connector.getAppliedStoreStep({ storeName: "model", storeId: request.storeId, ...request.step });
    case "claim":
      return comparable(await connector.readWakes({ limit: 1000, claim: true }));
    case "acknowledge": {
      const wakes = await connector.readWakes({ limit: 1000, claim: false });
      const wake = wakes.find((candidate) => candidate.executionId === request.executionId);
      const generation = (wake?.generation ?? 1) - (request.late ? 1 : 0);
      return connector.acknowledgeWake({ executionId: request.executionId, generation });
    }
    case "release":
      return connector.releaseWake({ executionId: request.executionId });
    case "forget":
      return connector.forgetExecution(request.executionId);
    case "restart":
      return side.restart();
  }
}

async function contents({ sessions: [connector], events }: Side): Promise<unknown> {
  if (connector === undefined) throw new Error("A side has two sessions.");
  const storeIds = await connector.listStores({ storeName: "model", limit: 1000 });
  const readings = await Promise.all(storeIds.map((id) => connector.readStore({ storeName: "model", storeId: id })));
  return {
    storeIds,
    readings,
    changes: await connector.readChanges({ after: 0, limit: 1000 }),
    wakes: comparable(await connector.readWakes({ limit: 1000, claim: false })),
    events,
  };
}

/** In which order the executions of one commit are woken, and so who gets which generation, nothing says. */
function comparable(wakes: readonly Wake[]): unknown[] {
  return wakes.map(({ generation: _, ...wake }) => wake).sort((a, b) => (a.executionId < b.executionId ? -1 : 1));
}

async function openSqlite(): Promise<Side> {
  const database = await openNodeDatabase({ clock: manualClock() });
  return sideOf([database.connect("one"), database.connect("two")], database);
}

function openMaps(): Side {
  const database = openMemoryDatabase({ clock: manualClock() });
  return sideOf([database.connect("one"), database.connect("two")], database);
}

function sideOf(sessions: readonly StoreConnector[], database: Pick<Side, "restart" | "close">): Side {
  const events: unknown[] = [];
  sessions[1]?.subscribe((event: StoreEvent) => {
    if (event.type === "wake") events.push({ ...event, executionIds: [...event.executionIds].sort() });
    else if (event.type === "commit") events.push(event);
  });
  return { sessions, events, restart: () => database.restart(), close: () => database.close() };
}

function count(seen: Map<string, number>, outcome: unknown): void {
  for (const [, status] of JSON.stringify(outcome ?? null).matchAll(/"status":"([a-z-]+)"/g)) {
    if (status !== undefined) seen.set(status, (seen.get(status) ?? 0) + 1);
  }
}
