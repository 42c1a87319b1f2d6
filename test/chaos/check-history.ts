/**
 * Compares what was acknowledged with what is in the database.
 *
 * Owns: the verdict. Does not own: how the history came about; it is a pure function of what was written down.
 *
 * K1  Nothing acknowledged is lost: it has its row in the change feed, written by its own client.
 * K2  Nothing is applied twice: each row belongs to one call that was made, and each call to one row.
 * K3  Every call of a tab that lives has ended, and none by an error that the load does not allow for.
 * K4  Nothing is wiped: one database, a feed from 1 without a gap, versions of an instance without a gap.
 * K5  The order of versions is one that real time allows, and what was read is what was written (linearizable).
 * K6  Each item is taken at most once, and none is lost. Two accounts are never seen half-way.
 * K7  A wait whose condition had long become true did not run out.
 * K8  Whoever sleeps when its store changes is woken, be it after its tab and every owner of that time are gone.
 */
import type { Change } from "../../src/protocol/change.js";
import type { CountState, Entry, QueueState } from "./entries.js";
import { checkOrder, type Timed } from "./real-time-order.js";
import { CALLED_OFF, mayHaveWritten, operationOf, said, type Unit, unitsOf, writesOf } from "./units.js";

export interface History {
  readonly entries: readonly Entry[];
  /** The whole change feed, in its order. */
  readonly feed: readonly Change[];
  readonly counts: Readonly<Record<string, CountState>>;
  readonly queues: Readonly<Record<string, QueueState>>;
  /** Tabs that were there at the end and say that all their calls have ended. */
  readonly live: readonly string[];
  /** Tabs that were there at the end and did not say so in time. */
  readonly hung: readonly string[];
}

export type Kind = "lost" | "doubled" | "hung" | "failed" | "wiped" | "gap" | "reordered" | "wrong-value" | "missed";

export interface Violation {
  readonly kind: Kind;
  readonly message: string;
}

/** Milliseconds that a browser may round the clock by. */
const TOLERANCE = 5;
/** Milliseconds after which a wait must have noticed: the sweep, and then some for hand-overs and a busy machine. */
const NOTICED_WITHIN = 10_000;
/** Stores that are deleted on the way have several instances: what depends on a version alone is not said of them. */
const DELETED_ON_THE_WAY = "scratch";

const rowKey = (store: string, version: number): string => `${store}#${version}`;

export function checkHistory(history: History): Violation[] {
  const violations: Violation[] = [];
  const report = (kind: Kind, message: string): void => void violations.push({ kind, message });
  const units = unitsOf(history.entries);
  checkEnds(history, units, report);
  checkFeed(history, report);
  const owners = claimRows(history, units, report);
  checkQueues(history, units, report);
  checkValues(units, owners, report);
  checkRealTime(history, units, owners, report);
  checkWaits(units, report);
  checkSleepers(history, units, report);
  return violations;
}

type Report = (kind: Kind, message: string) => void;

/** K3 */
function checkEnds({ live, hung }: History, units: ReadonlyMap<string, Unit>, report: Report): void {
  for (const unit of units.values()) {
    for (const { tab, call } of unit.begins) {
      const ended = unit.ends.some((end) => end.tab === tab && end.call === call);
      if (!ended && (live.includes(tab) || hung.includes(tab))) report("hung", `${said(unit)} of ${tab} never ended`);
    }
    for (const { tab, outcome } of unit.ends) {
      if (outcome.kind !== "failed" || CALLED_OFF.includes(outcome.code)) continue;
      report("failed", `${said(unit)} of ${tab} ended with ${outcome.code}: ${outcome.message}`);
    }
  }
  for (const tab of hung) report("hung", `${tab} did not come to its end`);
}

/** K4 */
function checkFeed({ entries, feed }: History, report: Report): void {
  const databases = new Set(entries.flatMap((entry) => (entry.type === "owner" ? [entry.databaseId] : [])));
  if (databases.size > 1) report("wiped", `the database was replaced: ${[...databases].join(", ")}`);
  const sequences = [...new Set(feed.map(({ sequence }) => sequence))];
  for (const [index, sequence] of sequences.entries()) {
    if (sequence === index + 1) continue;
    report("gap", `sequence ${index + 1} is missing; ${sequence} stands in its place`);
    break;
  }
  const last = new Map<string, number>();
  for (const { instanceId, storeId, version, deleted } of feed) {
    const before = last.get(instanceId);
    const isNext = before === undefined ? version <= 1 : version === before + (deleted ? 0 : 1);
    if (!isNext) report("gap", `version ${version} of ${storeId} follows version ${before}`);
    last.set(instanceId, version);
  }
}

/** K1, K2: whose each row is. Answers the unit of each version that was acknowledged. */
function claimRows({ feed }: History, units: ReadonlyMap<string, Unit>, report: Report): ReadonlyMap<string, Unit> {
  const rows = new Map<string, Change[]>();
  for (const change of feed) {
    if (change.deleted || change.version === 0) continue;
    const key = rowKey(change.storeId, change.version);
    rows.set(key, [...(rows.get(key) ?? []), change]);
  }
  const owners = new Map<string, Unit>();
  const claimed = new Set<Change>();
  for (const unit of units.values()) {
    const sessions = new Set(unit.begins.map(({ session }) => session));
    const versions = new Set(
      unit.ends.flatMap(({ outcome }) => ("version" in outcome && outcome.kind !== "read" ? [outcome.version] : [])),
    );
    if (versions.size > 1)
      report("doubled", `${said(unit)} was acknowledged with versions ${[...versions].join(", ")}`);
    for (const { store, version } of writesOf(unit)) {
      const key = rowKey(store, version);
      const row = rows.get(key)?.find((one) => sessions.has(one.origin) && !claimed.has(one));
      if (row !== undefined) {
        claimed.add(row);
        if (store !== DELETED_ON_THE_WAY) owners.set(key, unit);
      } else if (rows.get(key)?.some((one) => sessions.has(one.origin)) === true) {
        report("doubled", `version ${version} of ${store} was acknowledged to ${said(unit)} and to another call`);
      } else report("lost", `${said(unit)} was acknowledged as version ${version} of ${store}, which it did not write`);
    }
  }
  checkUnclaimed([...rows.values()].flat(), claimed, units, report);
  return owners;
}

/** A row that nobody was told of needs a call that may have made it. Rows of queues are counted by their items (K6). */
function checkUnclaimed(
  rows: readonly Change[],
  claimed: ReadonlySet<Change>,
  units: ReadonlyMap<string, Unit>,
  report: Report,
): void {
  const possible = new Map<string, number>();
  for (const unit of units.values()) {
    for (const store of mayHaveWritten(unit)) {
      // A step may have been applied in any of the tabs that tried, but once: it is repeated until that is known.
      const session = unit.begins[0]?.session ?? "";
      possible.set(`${session} ${store}`, (possible.get(`${session} ${store}`) ?? 0) + 1);
    }
  }
  for (const row of rows) {
    if (claimed.has(row) || row.storeName === "queue") continue;
    const key = `${row.origin} ${row.storeId}`;
    const left = possible.get(key) ?? 0;
    if (left === 0)
      report("doubled", `nobody made version ${row.version} of ${row.storeId} (sequence ${row.sequence})`);
    else possible.set(key, left - 1);
  }
}

/** K6 */
function checkQueues({ feed, queues }: History, units: ReadonlyMap<string, Unit>, report: Report): void {
  for (const [store, { waiting, taken }] of Object.entries(queues)) {
    const items = [...waiting, ...taken.map(({ item }) => item)];
    const takers = new Map(taken.map(({ item, by }) => [by, item]));
    if (new Set(items).size < items.length) report("doubled", `an item is twice in ${store}`);
    if (takers.size < taken.length) report("doubled", `one take took two items of ${store}`);
    const known = new Set(items);
    const put = new Set<string>();
    for (const unit of units.values()) {
      const operation = operationOf(unit);
      if (operation.store !== store) continue;
      const outcome = unit.ends.map((end) => end.outcome).find(({ kind }) => kind === "written" || kind === "taken");
      if (operation.kind === "put") {
        put.add(operation.item);
        if (outcome !== undefined && !known.has(operation.item))
          report("lost", `${said(unit)} is no longer in ${store}`);
      } else if (outcome?.kind === "taken" && takers.get(unit.name) !== outcome.item) {
        report("lost", `${said(unit)} got ${outcome.item}, and ${store} knows nothing of it`);
      }
    }
    for (const item of items) if (!put.has(item)) report("doubled", `nobody put ${item} into ${store}`);
    for (const by of takers.keys()) if (!units.has(by)) report("doubled", `nobody took as ${by} from ${store}`);
    const rows = feed.filter(
      ({ storeName, storeId, version }) => storeName === "queue" && storeId === store && version > 0,
    );
    const explained = items.length + taken.length;
    if (rows.length > explained) report("doubled", `${store} has ${rows.length} commits for ${explained} operations`);
    if (rows.length < explained) report("lost", `${store} has ${rows.length} commits for ${explained} operations`);
  }
}

/** K5: what was read or returned is what the call that wrote this version has written. */
function checkValues(units: ReadonlyMap<string, Unit>, owners: ReadonlyMap<string, Unit>, report: Report): void {
  for (const unit of units.values()) {
    const { store, kind } = operationOf(unit);
    for (const { outcome } of unit.ends) {
      if (outcome.kind === "transferred" && outcome.sum !== 0)
        report("wrong-value", `${said(unit)} saw accounts that differ by ${outcome.sum}`);
      if (outcome.kind !== "read" && !(outcome.kind === "written" && kind === "increment")) continue;
      if (outcome.count !== outcome.version)
        report("wrong-value", `${said(unit)} saw ${outcome.count} at version ${outcome.version} of ${store}`);
      const writer = owners.get(rowKey(store, outcome.version));
      if (outcome.kind === "read" && writer !== undefined && writer.name !== outcome.last)
        report("wrong-value", `${said(unit)} saw the work of ${outcome.last} where ${writer.name} wrote`);
    }
  }
}

/** K5 */
function checkRealTime(
  { feed }: History,
  units: ReadonlyMap<string, Unit>,
  owners: ReadonlyMap<string, Unit>,
  report: Report,
): void {
  const sequences = new Map(feed.map((row) => [rowKey(row.storeId, row.version), row.sequence]));
  const byStore = new Map<string, Timed[]>();
  const add = (store: string, timed: Timed): void => {
    const known = byStore.get(store) ?? [];
    known.push(timed);
    byStore.set(store, known);
  };
  for (const [key, unit] of owners) {
    const store = key.slice(0, key.lastIndexOf("#"));
    const ends = unit.ends.filter(({ outcome }) => outcome.kind === "written" || outcome.kind === "transferred");
    add(store, {
      name: said(unit),
      writes: true,
      position: sequences.get(key) ?? 0,
      begin: Math.min(...unit.begins.map(({ at }) => at)),
      end: Math.min(...ends.map(({ at }) => at)),
    });
  }
  for (const unit of units.values()) {
    const { store } = operationOf(unit);
    const [begin] = unit.begins;
    for (const { outcome, at } of unit.ends) {
      if (outcome.kind !== "read" || begin === undefined) continue;
      const position = sequences.get(rowKey(store, outcome.version));
      if (position === undefined)
        report("lost", `${said(unit)} saw version ${outcome.version}, which is not in the feed`);
      else add(store, { name: said(unit), writes: false, position, begin: begin.at, end: at });
    }
  }
  for (const timed of byStore.values()) {
    for (const message of checkOrder(timed, TOLERANCE)) report("reordered", message);
  }
}

/** K7 */
function checkWaits(units: ReadonlyMap<string, Unit>, report: Report): void {
  const reached = new Map<string, { readonly count: number; readonly at: number }[]>();
  for (const unit of units.values()) {
    const { kind, store } = operationOf(unit);
    for (const { outcome, at } of unit.ends) {
      if (kind !== "increment" || outcome.kind !== "written") continue;
      const known = reached.get(store) ?? [];
      known.push({ count: outcome.count, at });
      reached.set(store, known);
    }
  }
  for (const unit of units.values()) {
    const operation = operationOf(unit);
    if (operation.kind !== "wait") continue;
    for (const { outcome, at } of unit.ends) {
      if (outcome.kind === "matched" && outcome.count < operation.count)
        report("wrong-value", `${said(unit)} ended at ${outcome.count}`);
      const since = reached.get(operation.store)?.find(({ count }) => count >= operation.count)?.at;
      if (outcome.kind === "timed-out" && since !== undefined && at - since > NOTICED_WITHIN)
        report("missed", `${said(unit)} ran out ${at - since} ms after it came true`);
    }
  }
}

/** K8 */
function checkSleepers({ entries, feed }: History, units: ReadonlyMap<string, Unit>, report: Report): void {
  const woken = new Set(entries.flatMap((entry) => (entry.type === "woken" ? [entry.executionId] : [])));
  const newest = new Map(feed.map(({ instanceId, version }) => [instanceId, version]));
  for (const unit of units.values()) {
    for (const { outcome } of unit.ends) {
      if (woken.has(unit.name)) continue;
      if (outcome.kind === "awake") report("failed", `${said(unit)} was forgotten, and nobody had woken it`);
      if (outcome.kind !== "asleep") continue;
      if ((newest.get(outcome.instanceId) ?? 0) > outcome.since)
        report("missed", `${said(unit)} slept at version ${outcome.since} and was never woken`);
    }
  }
}
