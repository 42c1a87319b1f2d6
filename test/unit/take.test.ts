import { expect, test } from "vitest";
import { applyTake } from "../../src/draft.js";
import type { DeepReadonly } from "../../src/durable-type.js";
import { DraftMisuseError } from "../../src/protocol/errors.js";

interface Job {
  id: number;
  done: boolean;
  tags?: string[];
}
interface State {
  jobs: Job[];
  taken: number;
}

function state(): State {
  return { jobs: [1, 2, 3].map((id) => ({ id, done: false })), taken: 0 };
}

/** A take that matches, and leaves the state it ran on alone. */
function take(selector: (state: DeepReadonly<State>) => unknown, claim: (draft: State, selected: never) => unknown) {
  const base = state();
  const taking = applyTake<State, unknown>(base, selector, claim as never);
  expect(base).toEqual(state());
  if (!taking.matched) throw new Error("The selector did not match.");
  return taking;
}

test("stores 8: a take selects and claims on one state, and tells the value after the claim", () => {
  const { next, changedPaths, selected, readPaths } = take(
    ({ jobs }) => jobs.find((job) => job.id === 2),
    (draft, job: Job) => {
      job.done = true;
      draft.taken += 1;
    },
  );
  expect(selected).toEqual({ id: 2, done: true });
  expect(next).toEqual({
    jobs: [
      { id: 1, done: false },
      { id: 2, done: true },
      { id: 3, done: false },
    ],
    taken: 1,
  });
  expect(changedPaths).toEqual([["jobs", 1, "done"], ["taken"]]);
  expect(readPaths).toEqual([
    ["jobs", "length"],
    ["jobs", 0, "id"],
    ["jobs", 1],
  ]);
});

test("stores 8: nodes in what filter, map or an object around them selected can be changed by the claim", () => {
  const filtered = take(
    ({ jobs }) => jobs.filter((job) => job.id > 1),
    (_draft, jobs: Job[]) => {
      for (const job of jobs) job.done = true;
    },
  );
  expect(filtered.selected).toEqual([
    { id: 2, done: true },
    { id: 3, done: true },
  ]);
  expect(filtered.changedPaths).toEqual([
    ["jobs", 1, "done"],
    ["jobs", 2, "done"],
  ]);

  const wrapped = take(
    ({ jobs }) => ({ first: jobs[0], deep: [{ last: jobs.at(-1) }], count: jobs.length }),
    (_draft, selected: { first: Job; deep: { last: Job }[] }) => {
      selected.first.tags = ["x"];
      selected.deep[0]!.last.done = true;
    },
  );
  expect(wrapped.selected).toEqual({
    first: { id: 1, done: false, tags: ["x"] },
    deep: [{ last: { id: 3, done: true } }],
    count: 3,
  });
  expect(wrapped.changedPaths).toEqual([
    ["jobs", 0, "tags"],
    ["jobs", 2, "done"],
  ]);
});

test("stores 8: what the claim removes from the state is selected all the same, as the claim left it", () => {
  const { next, selected } = take(
    ({ jobs }) => jobs[0],
    (draft, job: Job) => {
      expect(draft.jobs.indexOf(job)).toBe(0);
      expect(draft.jobs.shift()).toBe(job);
      job.done = true;
    },
  );
  expect(selected).toEqual({ id: 1, done: true });
  expect(next).toEqual({ jobs: state().jobs.slice(1), taken: 0 });
});

test("stores 8: the whole state can be selected, and so can a value that is no part of it", () => {
  expect(
    take(
      (whole) => whole,
      (_draft, whole: State) => void (whole.taken = 9),
    ).selected,
  ).toEqual({ ...state(), taken: 9 });
  expect(
    take(
      ({ jobs }) => jobs.length,
      (draft) => void (draft.taken = 1),
    ).selected,
  ).toBe(3);
  expect(
    applyTake(
      5,
      (count) => count > 3 && count,
      () => {},
    ),
  ).toMatchObject({ matched: true, next: 5, selected: 5, changedPaths: [] });
});

test("stores 8: a result of undefined, null or false is a miss, which runs no claim and tells what was read", () => {
  for (const result of [undefined, null, false]) {
    const taking = applyTake(
      state(),
      ({ taken }) => (taken < 0 ? taken : result),
      () => expect.unreachable(),
    );
    expect(taking).toEqual({ matched: false, readPaths: [["taken"]] });
  }
});

test.each([0, "", Number.NaN])("stores 8: a result of %j matches", (result) => {
  expect(
    take(
      () => result,
      () => {},
    ).selected,
  ).toBe(result);
});

test("stores 8: an empty list matches", () => {
  expect(
    take(
      () => [],
      () => {},
    ).selected,
  ).toEqual([]);
});

test("stores 15: what a take selected is detached from the state and from the next one", () => {
  const { next, selected } = take(
    ({ jobs }) => ({ all: jobs, first: jobs[0] }),
    (_draft, { first }: { first: Job }) => void (first.done = true),
  );
  const { all, first } = selected as { all: Job[]; first: Job };
  all[1]!.id = 99;
  first.id = 99;
  expect(next).toEqual({ jobs: [{ id: 1, done: true }, ...state().jobs.slice(1)], taken: 0 });
});

test("stores 15: a claim's draft and what it was given throw once it has returned", () => {
  let kept!: Job;
  let root!: State;
  take(
    ({ jobs }) => jobs[0],
    (draft, job: Job) => {
      root = draft;
      kept = job;
    },
  );
  expect(() => kept.id).toThrow(DraftMisuseError);
  expect(() => (root.taken = 1)).toThrow(DraftMisuseError);
});

test("stores 3: a claim or a selector that returns a promise is refused", () => {
  const later = (): Promise<void> => Promise.resolve();
  expect(() => take(({ jobs }) => jobs[0], later)).toThrow(/^The claim returned a promise/);
  expect(() => take(later, () => {})).toThrow(/^The selector returned a promise/);
});

test("stores 3: a selector of a take that writes to the state is refused", () => {
  expect(() =>
    take(
      ({ jobs }) => ((jobs[0] as Job).done = true),
      () => {},
    ),
  ).toThrow(DraftMisuseError);
});

test("stores 8: what a claim returns is nothing, as with an arrow without braces", () => {
  expect(
    take(
      ({ jobs }) => jobs[0],
      (draft) => draft.jobs.shift(),
    ).next,
  ).toEqual({ jobs: state().jobs.slice(1), taken: 0 });
});
