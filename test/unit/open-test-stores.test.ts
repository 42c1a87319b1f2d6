/** The stores that apps test with: in memory, on a clock that a test moves. */
import { expect, test } from "vitest";
import { ClosedError } from "../../src/protocol/errors.js";
import { manualClock, openTestStores } from "../../src/testing/index.js";
import { Board, Counter } from "../support/definitions.js";
import { failure } from "../support/failure.js";

test("clients of one test database see each other's commits, and each test has a database of its own", async () => {
  await using first = openTestStores();
  await using second = openTestStores();
  const other = first.openTab();
  const seen = other.store(Counter, "one").when((state) => state.n === 1 && state.n);
  await first.stores.store(Counter, "one").update((draft) => void draft.n++);
  expect(await seen).toBe(1);
  expect(await second.stores.list(Counter)).toEqual([]);
});

test("a deadline passes when the clock is moved there, and not before", async () => {
  const clock = manualClock();
  await using opened = openTestStores({ clock });
  const counter = opened.stores.store(Counter, "one");
  let ended = false;
  const wait = counter.when((state) => state.n === 1, { deadline: clock.now() + 60_000 }).finally(() => (ended = true));
  await counter.get(); // A fence: the wait has begun.
  clock.advance(59_999);
  await counter.get();
  expect(ended).toBe(false);
  clock.advance(1);
  expect(await wait).toEqual({ status: "timed-out" });
});

test("a wall clock that is set on does not end a wait before its time, and the wait is not lost", async () => {
  await using opened = openTestStores();
  const { clock, stores } = opened;
  const counter = stores.store(Counter, "one");
  const wait = counter.when((state) => state.n === 1 && "counted", { deadline: clock.now() + 60_000 });
  await counter.get();
  clock.jump(-3_600_000);
  await counter.update((draft) => void draft.n++);
  expect(await wait).toEqual({ status: "matched", value: "counted" });
});

test("another owner is heard of, and calls go on", async () => {
  await using opened = openTestStores();
  const { stores, changeOwner } = opened;
  const epochs: number[] = [];
  stores.on("owner", ({ epoch }) => epochs.push(epoch));
  await stores.store(Counter, "one").update((draft) => void draft.n++);
  changeOwner();
  await stores.store(Counter, "one").update((draft) => void draft.n++);
  expect((await stores.store(Counter, "one").get()).state.n).toBe(2);
  expect(epochs).toEqual([1, 2]);
});

test("closing ends what waits with its typed error, and leaves no timer on the clock", async () => {
  const { stores, openTab, clock, close } = openTestStores();
  const waits = [
    stores.store(Counter, "one").when((state) => state.n === 1),
    openTab()
      .store(Board, "one")
      .take(
        (state) => state.jobs[0],
        () => undefined,
        { deadline: clock.now() + 1000 },
      ),
  ].map((wait) => failure(wait));
  await stores.store(Counter, "one").get();
  expect(clock.pending).toBeGreaterThan(0);
  await close();
  for (const error of await Promise.all(waits)) expect(error).toBeInstanceOf(ClosedError);
  expect(clock.pending).toBe(0);
  await close();
});
