/**
 * What must be true of every run of a program, whatever its order: the contract as seen from outside.
 *
 * A call is linearizable if its outcome was right at some moment between its being made and its being answered. The
 * history knows every version and when it was current, so each call can be judged by itself.
 */
import { expect } from "vitest";
import type { HistoryEntry, ModelState, StoreHistory } from "./store-history.js";
import { secondItem } from "./perform-command.js";
import type { Observation, ProgramRun, Sight } from "./run-program.js";

export function checkRun(run: ProgramRun): void {
  checkGapless(run.history);
  for (const observation of run.observations) {
    checkErrors(observation, run.observations);
    checkAppliedOnce(observation, run.history);
    if ("value" in observation.outcome) checkOutcome(observation, observation.outcome.value, run.history);
  }
  checkSteps(run.observations, run.history);
  checkWakes(run);
  for (const sights of run.watched) checkWatch(sights, run.history);
  const end = run.history.at("a", run.history.head);
  for (const { read, peeked } of run.finally) {
    expect(read).toMatchObject({ version: end?.version, instanceId: end?.instanceId, state: end?.state });
    expect(peeked).toEqual(read);
  }
}

/** Sequences have no gap, nor have the versions of an instance, and a new instance begins at 0 or 1. */
function checkGapless({ entries }: StoreHistory): void {
  const sequences = [...new Set(entries.map((entry) => entry.sequence))];
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  const versions = new Map<string, number>();
  for (const { instanceId, version, state } of entries) {
    const before = versions.get(instanceId);
    if (state === null) expect(version).toBe(before);
    else if (before === undefined) expect([0, 1]).toContain(version);
    else expect(version).toBe(before + 1);
    versions.set(instanceId, version);
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** A call fails only for a reason that the program gave it. */
function checkErrors({ outcome, step, invoked, responded }: Observation, all: readonly Observation[]): void {
  const forgets = all.filter(
    ({ command }) => command.type === "forget" && step?.executionId === `E${command.execution}`,
  );
  const mustFail = forgets.some((forget) => forget.responded.tick < invoked.tick);
  if (mustFail) expect("error" in outcome && codeOf(outcome.error)).toBe("execution-forgotten");
  if (!("error" in outcome)) return;
  const code = codeOf(outcome.error);
  // Without a step nobody can know whether a commit was applied whose owner was lost; with one, everybody can.
  if (code === "outcome-unknown" && step === undefined) return;
  if (code === "execution-forgotten" && forgets.some((forget) => forget.invoked.tick < responded.tick)) return;
  throw outcome.error;
}

/** No call is applied twice; one that succeeded was applied, by itself or by whom its receipt is of. */
function checkAppliedOnce({ command, name, outcome }: Observation, history: StoreHistory): void {
  const writes = history.writesOf(name);
  expect(new Set(writes.map(({ sequence }) => sequence)).size).toBeLessThanOrEqual(1);
  if (command.type === "transact") expect([0, 2]).toContain(writes.length);
  else expect(writes.length).toBeLessThanOrEqual(1);
  // Of an execution that was forgotten nobody knows any more what was applied.
  const isUnknown =
    "error" in outcome && ["outcome-unknown", "execution-forgotten"].includes(String(codeOf(outcome.error)));
  if ("error" in outcome && !isUnknown) expect(writes).toEqual([]);
}

interface Answer {
  readonly state?: ModelState;
  readonly instanceId?: string;
  readonly version?: number;
  readonly previousVersion?: number;
  readonly updated?: boolean;
  readonly matched?: boolean;
  readonly selected?: unknown;
  readonly deleted?: boolean;
  readonly actualInstanceId?: string;
  readonly actualVersion?: number;
}

/** The outcome was right at a moment between call and reply. */
function checkOutcome(observation: Observation, value: unknown, history: StoreHistory): void {
  const { command, name, invoked, responded, step, snapshot, peeked } = observation;
  const during = [invoked.sequence, responded.sequence] as const;
  const answer = (value ?? {}) as Answer; // Of which fields, the command says.
  const written = history.writesOf(name);
  const mustBeDuring = (storeId: string, matches: (entry: HistoryEntry | undefined) => boolean): void => {
    expect(history.was(storeId, during, matches), `${JSON.stringify(observation)} was never right`).toBe(true);
  };
  const isAt = (entry: HistoryEntry | undefined, instanceId?: string, version?: number): boolean =>
    entry !== undefined && entry.instanceId === instanceId && entry.version === version;
  /** This call's own commit, unless its step was applied by another. */
  const checkWritten = (part: Answer, entry: HistoryEntry | undefined): void => {
    if (entry === undefined) return expect(step, `${name} has written nothing`).toBeDefined();
    expect(entry.sequence).toBeGreaterThan(invoked.sequence);
    expect(entry.sequence).toBeLessThanOrEqual(responded.sequence);
    expect(part.version).toBe(entry.version);
    if (part.state !== undefined) expect(part.state).toEqual(entry.state);
    if (peeked !== undefined) expect(positionOf(peeked, entry.storeId, history)).toBeGreaterThanOrEqual(entry.sequence);
    if (part.previousVersion !== undefined) expect(part.previousVersion).toBe(entry.version - 1);
  };
  const checkConflict = (storeId: string): void => {
    const { actualInstanceId, actualVersion } = answer;
    expect([actualInstanceId, actualVersion]).not.toEqual([snapshot?.instanceId, snapshot?.version]);
    mustBeDuring(storeId, (entry) => isAt(entry, actualInstanceId, actualVersion));
  };

  switch (command.type) {
    case "get":
      expect(history.entries.some((entry) => isAt(entry, answer.instanceId, answer.version))).toBe(true);
      mustBeDuring(
        command.store,
        (entry) => isAt(entry, answer.instanceId, answer.version) && same(entry, answer.state),
      );
      return;
    case "update":
    case "put":
      return checkWritten(answer, written[0]);
    case "update-from":
      if (answer.updated === false) return checkConflict(command.store);
      if (written[0] !== undefined) expect(written[0].version - 1).toBe(snapshot?.version);
      return checkWritten(answer, written[0]);
    case "take":
    case "wait-durably": {
      const select = command.type === "take" ? (state: ModelState) => state.items[0] : secondItem;
      if (answer.matched === true) {
        if (written[0] !== undefined) expect(answer.selected).toBe(selectedBefore(written[0], history, select));
        return checkWritten(answer, written[0]);
      }
      const missed = (entry: HistoryEntry | undefined): boolean =>
        isAt(entry, answer.instanceId, answer.version) && !select(stateOf(entry));
      return mustBeDuring(command.store, missed);
    }
    case "wait-take":
      expect(written).toHaveLength(1);
      return expect(value).toBe(written[0] && selectedBefore(written[0], history, (state) => state.items[0]));
    case "when":
      return mustBeDuring(command.store, (entry) => stateOf(entry).count >= 2 && sameText(stateOf(entry).log, value));
    case "delete-from":
      if (answer.deleted === false) return checkConflict(command.store);
      expect(
        history.entries.some((entry) => entry.state === null && isAt(entry, snapshot?.instanceId, snapshot?.version)) ||
          step !== undefined,
      ).toBe(true);
      return;
    case "delete":
      return mustBeDuring(command.store, (entry) => entry === undefined);
    case "transact":
      for (const [index, part] of Object.values(value as Record<string, Answer>).entries())
        checkWritten(part, written[index]);
      return;
    case "forget":
    case "restart":
  }
}

const stateOf = (entry: HistoryEntry | undefined): ModelState => entry?.state ?? { log: [], items: [], count: 0 };
const sameText = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const same = (entry: HistoryEntry | undefined, state: ModelState | undefined): boolean => {
  const { log, items, count } = state ?? stateOf(undefined);
  return sameText([log, items, count], [stateOf(entry).log, stateOf(entry).items, stateOf(entry).count]);
};

/** As of which commit something was the newest that a client knew; of a missing store, the last that it can have been. */
function positionOf({ instanceId, version }: Sight, storeId: string, { entries }: StoreHistory): number {
  const ofStore = entries.filter((entry) => entry.storeId === storeId);
  const known = ofStore.filter((entry) =>
    instanceId === null ? entry.state === null : entry.instanceId === instanceId && entry.version === version,
  );
  return known.at(instanceId === null ? -1 : 0)?.sequence ?? 0;
}

/** What a selector found in the version before a commit; the initial state for the first of an instance. */
function selectedBefore(entry: HistoryEntry, history: StoreHistory, select: (state: ModelState) => unknown): unknown {
  return select(stateOf(history.at(entry.storeId, entry.sequence - 1)));
}

/** All calls with one step are one call: applied once at most, and answered alike. */
function checkSteps(observations: readonly Observation[], history: StoreHistory): void {
  const groups = new Map<string, Observation[]>();
  for (const observation of observations) {
    if (observation.step === undefined) continue;
    const { command, step } = observation;
    const group = JSON.stringify([command.type, "store" in command ? command.store : "both", step]);
    groups.set(group, [...(groups.get(group) ?? []), observation]);
  }
  for (const group of groups.values()) {
    const writes = new Set(group.flatMap(({ name }) => history.writesOf(name).map(({ sequence }) => sequence)));
    expect(writes.size).toBeLessThanOrEqual(1);
    const results = group.flatMap(({ outcome }) => ("value" in outcome ? [outcome.value as Answer] : []));
    const recorded = results.filter(({ updated, matched, deleted }) => ![updated, matched, deleted].includes(false));
    for (const result of recorded) expect(result).toEqual(recorded[0]);
    const [{ command } = { command: undefined }] = group;
    if (recorded.length > 0 && command?.type !== "delete-from") expect(writes.size).toBe(1);
  }
}

/** Whoever left a waiter behind is woken by the very commit that changes what it looked at, or deletes its store. */
function checkWakes({ observations, history, database }: ProgramRun): void {
  const woken = new Set(database.wakes.read({ limit: 10_000, claim: false }, "model").map((wake) => wake.executionId));
  for (const { command, name, outcome } of observations) {
    if (command.type !== "wait-durably" || !("value" in outcome)) continue;
    const { waiter, instanceId, version } = outcome.value as Answer & { waiter?: { status: string } };
    if (waiter === undefined) continue;
    if (waiter.status === "woken") {
      expect(woken).toContain(`W-${name}`);
      continue;
    }
    // Registered means that nothing had changed by then: so what is due comes later, and must find the waiter.
    const read = history.entries.find((entry) => entry.instanceId === instanceId && entry.version === version);
    const due = history.entries.find(
      ({ storeId, sequence, state }) =>
        storeId === command.store &&
        sequence > (read?.sequence ?? 0) &&
        (state === null || secondItem(state) !== secondItem(stateOf(read))),
    );
    if (due !== undefined) expect(due.woken).toContain(`W-${name}`);
  }
}

/** A watch never goes back, shows what was there, and ends with what is there. */
function checkWatch(sights: readonly Sight[], history: StoreHistory): void {
  let newest = 0;
  for (const { instanceId, version, state } of sights) {
    if (instanceId === null) continue;
    const entry = history.entries.find(
      (candidate) => candidate.instanceId === instanceId && candidate.version === version,
    );
    expect(same(entry, state)).toBe(true);
    expect(entry?.sequence).toBeGreaterThan(newest);
    newest = entry?.sequence ?? newest;
  }
  const end = history.at("a", history.head);
  // By state alone: a version that brought no change of what is watched is not shown.
  expect(sights.at(-1)?.state).toEqual(stateOf(end));
}
