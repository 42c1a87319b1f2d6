/** What an app may pass in by mistake, where no type checker helps it. */
import { expect, test } from "vitest";
import { InvalidArgumentError } from "../../src/protocol/errors.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { failure } from "../support/failure.js";
import { openProbedDatabase } from "../support/probed-database.js";

const database = openProbedDatabase();
const stores = createStores(database.connect("mine"));
const counter = stores.store(Counter, "x");
// As JavaScript sees them: values of any type, where TypeScript would refuse them.
const wrong = (value: unknown): never => value as never;

const calls: Readonly<Record<string, () => unknown>> = {
  "an update without an updater": () => counter.update(wrong(undefined)),
  "an update whose updater is a state": () => counter.update(wrong({ n: 1 })),
  "an update from a snapshot without an updater": () =>
    counter.updateFrom({ instanceId: "i", version: 0 }, wrong(null)),
  "a take without a claim": () => counter.take((state) => state.n, wrong(undefined)),
  "a take without a selector": () => counter.take(wrong("n"), () => undefined),
  "a wait without a selector": () => counter.when(wrong(undefined)),
  "a watch without a callback": () => counter.watch((state) => state.n, wrong(undefined)),
  "a watch without a selector": () => counter.watch(wrong(1), () => undefined),
  "a deadline that is no number": () => counter.when(() => true, { deadline: Number.NaN }),
  "a deadline that is a text": () => counter.when(() => true, { deadline: wrong("tomorrow") }),
  "a deadline that is a Date": () =>
    counter.take(
      () => true,
      () => undefined,
      { deadline: wrong(new Date()) },
    ),
  "a store of no definition": () => stores.store(wrong(undefined), "x"),
  "a store of a schema": () => stores.store(wrong(Counter.schema), "x"),
  "a list of no definition": () => stores.list(wrong("counter")),
  "a deletion of no definition": () => stores.delete(wrong(null), "x"),
  "an update of no store": () => stores.updateStore(wrong({ updater: () => undefined })),
  "a transaction of nothing": () => stores.transact(wrong(undefined), () => undefined),
  "a transaction of a missing handle": () => stores.transact(wrong({ counter, other: undefined }), () => undefined),
  "a transaction without an updater": () => stores.transact({ counter }, wrong(undefined)),
  "a waiter without paths": () =>
    stores.registerWaiter({
      workflowId: "w",
      executionId: "e",
      stepKey: "s",
      storeName: "counter",
      storeId: "x",
      instanceId: "i",
      sinceVersion: 0,
      readPaths: wrong("n"),
    }),
};

test.each(Object.entries(calls))(
  "stores Limits: %s is refused with a typed error, and nothing is sent",
  async (_name, call) => {
    const error = await failure((async () => call())());
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(database.calls("mine")).toEqual([]);
  },
);

test("stores Limits: a deadline that never comes is one", async () => {
  const board = createStores(openProbedDatabase().connect()).store(Board, "x");
  const waiting = board.when((state) => state.title === "go", { deadline: Number.POSITIVE_INFINITY });
  await board.update((draft) => void (draft.title = "go"));
  expect(await waiting).toEqual({ status: "matched", value: true });
});
