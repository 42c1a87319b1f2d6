import { expect, test } from "vitest";
import { checkContract } from "../../scripts/contract.mjs";

/** Not the present list, which ends empty. */
const later = { stores: [10], tabs: [] };

/** What is found in a tree of these files, leaving aside the many lines of the contract that it has no claim for. */
function check(files: Record<string, string>): { claims: Record<string, number>; problems: string[] } {
  const { claims, problems } = checkContract(new Map(Object.entries(files)), later);
  return {
    claims: Object.fromEntries(claims),
    problems: problems.filter((problem) => !problem.includes("neither claimed nor")),
  };
}

const claim = { "test/contract/stores-12.md": "# stores 12: Wakes\n\nWords.\n" };

test("a claim that a test names is in order", () => {
  const files = { ...claim, "test/unit/a.test.ts": 'test("stores 12: it wakes", () => {});' };
  expect(check(files)).toEqual({ claims: { "stores 12": 1 }, problems: [] });
});

test("a claim without a test is found", () => {
  const none = ["stores 12 has no test whose name begins with it"];
  expect(check(claim).problems).toEqual(none);
  for (const text of ['// test("stores 12: it wakes")', 'test("it wakes, as stores 12: says")', '"stores 120: no"']) {
    expect(check({ ...claim, "test/unit/a.test.ts": text }).problems).toContain(none[0]);
  }
  expect(check({ ...claim, "src/a.ts": '"stores 12: no test"' }).problems).toEqual(none);
});

test("one name can cite several lines, of one part or of both", () => {
  const files = {
    ...claim,
    "test/contract/stores-13.md": "# stores 13: Waiters\n",
    "test/contract/tabs-11.md": "# tabs 11: Events\n",
    "test/contract/c4.md": "# C4: Wakeups\n",
    "test/tabs/a.spec.ts": 'test("stores 12, 13, tabs 11: both", f); test(`C4: lost`, f);',
  };
  expect(check(files)).toEqual({ claims: { "stores 12": 1, "stores 13": 1, "tabs 11": 1, C4: 1 }, problems: [] });
});

test("a line that is neither claimed nor left for later is found", () => {
  const { problems } = checkContract(new Map(), later);
  expect(problems).toContain("stores 12 is neither claimed nor on the list of later lines");
  expect(problems).not.toContain("stores 10 is neither claimed nor on the list of later lines");
});

test("a claim of a later line, a claim written twice and a citation of nothing are found", () => {
  const files = {
    ...claim,
    "test/contract/again.md": "# stores 12: Wakes\n",
    "test/contract/later.md": "# stores 10: Once\n",
    "test/contract/nothing.md": "Wakes\n",
    "test/unit/a.test.ts": '["stores 12: it wakes", "stores 10: as yet", "stores 99: what"]',
  };
  expect(check(files).problems).toEqual([
    "test/contract/again.md: stores 12 is claimed twice",
    "test/contract/later.md: stores 10 is on the list of later lines; take it off with its tests",
    'test/contract/nothing.md: the first line must be "# stores 12: title"',
    "test/unit/a.test.ts: cites stores 99, which the contract does not have",
  ]);
});
