/** The checker of the chaos runs catches what it is there for: each kind of damage, put into a history that is whole. */
import { expect, test } from "vitest";
import type { Change } from "../../src/protocol/change.js";
import { checkHistory, type History, type Kind } from "../chaos/check-history.js";
import type { Begin, End, Entry, Operation, Outcome } from "../chaos/entries.js";
import { randomFrom } from "../chaos/random.js";

type Editable = { -readonly [Key in keyof History]: History[Key] } & { entries: Entry[]; feed: Change[] };

interface Made {
  readonly tab?: string;
  readonly session?: string;
  readonly step?: string;
  readonly at: number;
  readonly took?: number;
}

/** Writes a history down by hand, as a database without a fault would leave it. */
class Script {
  readonly history: Editable = { entries: [], feed: [], counts: {}, queues: {}, live: ["t1", "t2"], hung: [] };
  #call = 0;

  call(
    operation: Operation,
    outcome: Outcome | null,
    { tab = "t1", session = tab, step, at, took = 10 }: Made,
  ): string {
    const call = ++this.#call;
    const begin: Begin = { type: "begin", tab, call, session, step: step ?? null, operation, at };
    this.history.entries.push(begin);
    if (outcome !== null) {
      const end: End = { type: "end", tab, call, epoch: 1, outcome, at: at + took };
      this.history.entries.push(end);
    }
    return step ?? `${tab}/${call}`;
  }

  row(storeId: string, version: number, origin = "t1", storeName = "count", sameCommit = false): void {
    const sequence = (this.history.feed.at(-1)?.sequence ?? 0) + (sameCommit ? 0 : 1);
    const instanceId = `instance of ${storeId}`;
    const position = sameCommit ? 1 : 0;
    const change = {
      storeName,
      storeId,
      sequence,
      position,
      instanceId,
      version,
      changedPaths: "[[]]",
      deleted: false,
      origin,
    };
    this.history.feed.push(change);
  }

  increment(version: number, made: Made): string {
    this.row("a", version, made.session ?? made.tab ?? "t1");
    return this.call({ kind: "increment", store: "a" }, { kind: "written", version, count: version }, made);
  }

  read(version: number, last: string, made: Made): void {
    const outcome: Outcome = { kind: "read", instanceId: "instance of a", version, count: version, last };
    this.call({ kind: "read", store: "a" }, outcome, made);
  }
}

/** Three increments, a read, an item that is put and taken, a transfer, a wait. */
function whole(): Script {
  const script = new Script();
  script.history.entries.push({ type: "owner", tab: "t1", epoch: 1, databaseId: "one" });
  script.increment(1, { at: 0 });
  script.increment(2, { at: 20, tab: "t2" });
  const last = script.increment(3, { at: 40, step: "step" });
  script.read(3, last, { at: 60 });
  script.row("q1", 1, "t1", "queue");
  script.call({ kind: "put", store: "q1", item: "item" }, { kind: "written", version: 1, count: 1 }, { at: 80 });
  script.row("q1", 2, "t2", "queue");
  const by = script.call(
    { kind: "take", store: "q1" },
    { kind: "taken", item: "item" },
    { at: 70, took: 40, tab: "t2" },
  );
  script.row("left", 1);
  script.row("right", 1, "t1", "count", true);
  script.call(
    { kind: "transfer", store: "left", to: "right", amount: 5 },
    { kind: "transferred", version: 1, toVersion: 1, sum: 0 },
    { at: 120 },
  );
  script.call({ kind: "wait", store: "a", count: 2 }, { kind: "matched", count: 3 }, { at: 10, took: 60 });
  script.history.queues = { q1: { waiting: [], taken: [{ item: "item", by }] } };
  return script;
}

const kindsOf = (history: History): Kind[] => [...new Set(checkHistory(history).map(({ kind }) => kind))];

test("a history without a fault has no violation", () => {
  expect(checkHistory(whole().history)).toEqual([]);
});

test("what a tab did not live to hear may have been applied once, or not at all", () => {
  const script = whole();
  script.call({ kind: "increment", store: "a" }, null, { at: 200, tab: "dead" });
  expect(checkHistory(script.history)).toEqual([]);
  script.row("a", 4, "dead");
  expect(checkHistory(script.history)).toEqual([]);
  script.row("a", 5, "dead");
  expect(kindsOf(script.history)).toEqual(["doubled"]);
});

test("a step that was applied before its tab died, and is repeated by another tab, counts once", () => {
  const script = whole();
  script.call({ kind: "increment", store: "a" }, null, { at: 200, tab: "dead", step: "again" });
  script.row("a", 4, "dead");
  const outcome: Outcome = { kind: "written", version: 4, count: 4 };
  script.call({ kind: "increment", store: "a" }, outcome, { at: 300, step: "again" });
  expect(checkHistory(script.history)).toEqual([]);
  script.row("a", 5);
  expect(kindsOf(script.history)).toEqual(["doubled"]);
});

const damages: readonly [name: string, kind: Kind, damage: (script: Script) => void][] = [
  [
    "an acknowledged commit that is not in the feed",
    "lost",
    (script) =>
      void script.call({ kind: "increment", store: "a" }, { kind: "written", version: 4, count: 4 }, { at: 200 }),
  ],
  ["a commit that nobody has called for", "doubled", (script) => script.row("a", 4)],
  [
    "one version acknowledged to two calls",
    "doubled",
    (script) =>
      void script.call({ kind: "increment", store: "a" }, { kind: "written", version: 3, count: 3 }, { at: 41 }),
  ],
  [
    "one step acknowledged with two versions",
    "doubled",
    (script) => void script.increment(4, { at: 200, step: "step" }),
  ],
  [
    "a call of a tab that lives and never ended",
    "hung",
    (script) => void script.call({ kind: "read", store: "a" }, null, { at: 200, tab: "t2" }),
  ],
  ["a tab that does not come to its end", "hung", (script) => void (script.history.hung = ["t3"])],
  [
    "a call that failed",
    "failed",
    (script) =>
      void script.call(
        { kind: "read", store: "a" },
        { kind: "failed", code: "outcome-unknown", message: "" },
        { at: 200 },
      ),
  ],
  [
    "another database",
    "wiped",
    (script) => void script.history.entries.push({ type: "owner", tab: "t2", epoch: 2, databaseId: "two" }),
  ],
  [
    "a gap in the sequence",
    "gap",
    (script) => {
      script.history.feed = script.history.feed.map((row) => ({
        ...row,
        sequence: row.sequence + (row.storeId === "a" ? 0 : 1),
      }));
    },
  ],
  [
    "a gap in the versions of an instance",
    "gap",
    (script) => {
      script.row("b", 1);
      script.row("b", 3);
    },
  ],
  [
    "a write that stands before one that had ended when it began",
    "reordered",
    (script) => {
      script.increment(4, { at: 300 });
      script.increment(5, { at: 200 });
    },
  ],
  ["a read of what had been replaced before it began", "reordered", (script) => script.read(2, "t2/2", { at: 200 })],
  [
    "a read of what had not begun",
    "reordered",
    (script) => {
      const last = script.increment(4, { at: 300 });
      script.read(4, last, { at: 200 });
    },
  ],
  ["a read of what another call has written", "wrong-value", (script) => script.read(3, "t2/2", { at: 200 })],
  [
    "two accounts seen half-way",
    "wrong-value",
    (script) => {
      script.row("left", 2);
      script.row("right", 2, "t1", "count", true);
      const outcome: Outcome = { kind: "transferred", version: 2, toVersion: 2, sum: 5 };
      script.call({ kind: "transfer", store: "left", to: "right", amount: 5 }, outcome, { at: 200 });
    },
  ],
  [
    "an item that is in no queue any more",
    "lost",
    (script) => void (script.history.queues = { q1: { waiting: [], taken: [] } }),
  ],
  [
    "an item that is taken and waits",
    "doubled",
    (script) => {
      const taken = script.history.queues["q1"]?.taken ?? [];
      script.history.queues = { q1: { waiting: ["item"], taken } };
    },
  ],
  [
    "an item that two calls took",
    "lost",
    (script) => void script.call({ kind: "take", store: "q1" }, { kind: "taken", item: "item" }, { at: 200 }),
  ],
  [
    "a wait that ran out long after its condition had come true",
    "missed",
    (script) =>
      void script.call({ kind: "wait", store: "a", count: 3 }, { kind: "timed-out" }, { at: 100, took: 15_000 }),
  ],
  [
    "a sleeper that was forgotten and never woken",
    "failed",
    (script) => void script.call({ kind: "sleep", store: "a" }, { kind: "awake" }, { at: 30 }),
  ],
  [
    "a sleeper whose store has changed and who was not woken",
    "missed",
    (script) => {
      const asleep: Outcome = { kind: "asleep", instanceId: "instance of a", since: 2 };
      script.call({ kind: "sleep", store: "a" }, asleep, { at: 30 });
    },
  ],
];

test("who sleeps at the newest version need not be woken", () => {
  const script = whole();
  script.call({ kind: "sleep", store: "a" }, { kind: "asleep", instanceId: "instance of a", since: 3 }, { at: 200 });
  expect(checkHistory(script.history)).toEqual([]);
});

test("who was woken is not missed", () => {
  const script = whole();
  const asleep: Outcome = { kind: "asleep", instanceId: "instance of a", since: 2 };
  const executionId = script.call({ kind: "sleep", store: "a" }, asleep, { at: 200 });
  script.history.entries.push({ type: "woken", executionId });
  expect(checkHistory(script.history)).toEqual([]);
});

test.each(damages)("%s is found (%s)", (_name, kind, damage) => {
  const script = whole();
  damage(script);
  expect(kindsOf(script.history)).toContain(kind);
});

test("calls that overlap may stand in either order", () => {
  const script = whole();
  script.increment(4, { at: 210, took: 50 });
  script.increment(5, { at: 200, took: 50, tab: "t2" });
  expect(checkHistory(script.history)).toEqual([]);
});

test("one seed gives one series, and weights are kept", () => {
  const [first, second] = [randomFrom(7), randomFrom(7)];
  const series = Array.from({ length: 50 }, () => first.next());
  expect(Array.from({ length: 50 }, () => second.next())).toEqual(series);
  const drawn = Array.from({ length: 2000 }, () => first.weighted({ often: 9, seldom: 1, never: 0 }));
  const count = (key: string): number => drawn.filter((one) => one === key).length;
  expect(count("never")).toBe(0);
  expect(count("often") / count("seldom")).toBeGreaterThan(5);
});
