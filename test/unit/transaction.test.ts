import { expect, test } from "vitest";
import { applyTransaction } from "../../src/draft.js";
import { DraftMisuseError } from "../../src/protocol/errors.js";

interface States {
  order: { items: string[]; paid: boolean };
  stock: Record<string, number>;
  count: number;
}

function states(): States {
  return { order: { items: ["a"], paid: false }, stock: { a: 3, b: 1 }, count: 0 };
}

function transact(updater: (drafts: States) => unknown) {
  const bases = states();
  const revisions = applyTransaction<States>(bases, updater);
  expect(bases).toEqual(states());
  return revisions;
}

test("stores 18: one updater changes several states, and each has its own next state and changed paths", () => {
  expect(
    transact(({ order, stock }) => {
      order.items.push("b");
      stock["b"]! -= 1;
    }),
  ).toEqual({
    order: {
      next: { items: ["a", "b"], paid: false },
      changedPaths: [
        ["items", 1],
        ["items", "length"],
      ],
    },
    stock: { next: { a: 3, b: 0 }, changedPaths: [["b"]] },
    count: { next: 0, changedPaths: [] },
  });
});

test("stores 18: assigning to a draft's name replaces that state, which is how one that is no object changes", () => {
  const { count, order } = transact((drafts) => {
    drafts.count += 1;
    drafts.order = { items: [], paid: true };
  });
  expect(count).toEqual({ next: 1, changedPaths: [[]] });
  expect(order).toEqual({
    next: { items: [], paid: true },
    changedPaths: [["items", 0], ["items", "length"], ["paid"]],
  });
});

test("stores 18: a part moved from one state into another belongs to both and is changed in each", () => {
  const { order, stock } = transact((drafts) => {
    (drafts.stock as Record<string, unknown>)["items"] = drafts.order.items;
    drafts.order.items.push("b");
  });
  expect(order.changedPaths).toEqual([
    ["items", 1],
    ["items", "length"],
  ]);
  expect(stock).toEqual({ next: { a: 3, b: 1, items: ["a", "b"] }, changedPaths: [["items"]] });
});

test("stores 18: returning the drafts is the same as changing them, and returning anything else is an error that says so", () => {
  expect(transact((drafts) => Object.assign(drafts, { count: 2 })).count.next).toBe(2);
  expect(() => transact((drafts) => drafts.order.items.push("b"))).toThrow(
    /returned a number.*{ draft\.items\.push\(x\); }/,
  );
  expect(() => transact(() => ({ count: 1 }))).toThrow(DraftMisuseError);
});

test("stores 18: a transaction's updater can neither add nor remove a store", () => {
  expect(() => transact((drafts) => void Object.assign(drafts, { other: 1 }))).toThrow(
    /added or removed the store "other"/,
  );
  expect(() => transact((drafts) => void Reflect.deleteProperty(drafts, "stock"))).toThrow(DraftMisuseError);
});

test("stores 3: a transaction's updater that returns a promise is refused", () => {
  expect(() => transact(async () => {})).toThrow(/^The updater returned a promise/);
});

test("stores 15: the drafts of a transaction throw once its updater has returned", () => {
  let kept!: States;
  transact((drafts) => void (kept = drafts));
  expect(() => kept.order).toThrow(DraftMisuseError);
});
