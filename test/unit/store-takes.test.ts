import { expect, test } from "vitest";
import { CasStoreClient } from "../../src/cas-store-client.js";
import { createStores } from "../../src/stores.js";
import { Board, Counter } from "../support/definitions.js";
import { openProbedDatabase } from "../support/probed-database.js";

test("stores 8: 0, the empty text and the empty list match; undefined, null and false do not", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const attempt = (result: unknown): Promise<{ matched: boolean }> =>
    client.takeFromStore({ definition: Counter, id: "x", selector: () => result, claim: () => undefined });
  for (const found of [0, "", [], {}, true])
    expect(await attempt(found)).toMatchObject({ matched: true, selected: found });
  for (const missed of [undefined, null, false]) expect(await attempt(missed)).toMatchObject({ matched: false });
});

test("stores 8: what is selected is a part of the state or made of parts, and is answered as it is after the claim", async () => {
  const client = new CasStoreClient(openProbedDatabase().connect());
  const address = { definition: Board, id: "x" };
  await client.updateStore({
    ...address,
    updater: (draft) => void draft.jobs.push({ id: "a", done: false }, { id: "b", done: false }),
  });
  const part = await client.takeFromStore({
    ...address,
    selector: (state) => state.jobs.find(({ done }) => !done),
    claim: (_draft, job) => {
      job.done = true;
    },
  });
  expect(part).toMatchObject({ matched: true, selected: { id: "a", done: true }, version: 2 });
  const derived = await client.takeFromStore({
    ...address,
    selector: (state) => ({ open: state.jobs.filter(({ done }) => !done) }),
    claim: (draft, { open }) => {
      draft.count = open.length;
      for (const job of open) job.done = true;
    },
  });
  expect(derived).toMatchObject({ matched: true, selected: { open: [{ id: "b", done: true }] }, version: 3 });
  expect((await client.getStore(address)).state).toEqual({
    count: 1,
    title: "",
    jobs: [
      { id: "a", done: true },
      { id: "b", done: true },
    ],
  });
});

test("stores 8: a miss is told only of a state that was read during the call", async () => {
  const database = openProbedDatabase();
  database.filterEvents(() => false);
  const client = new CasStoreClient(database.connect());
  const other = createStores(database.connect()).store(Board, "x");
  const request = {
    definition: Board,
    id: "x",
    selector: (state: { readonly title: string }) => state.title === "ready" && state.title,
    claim: () => undefined,
  };
  expect(await client.takeFromStore(request)).toMatchObject({ matched: false, version: 0 });
  await other.update((draft) => void (draft.title = "ready"));
  expect(await client.takeFromStore(request)).toMatchObject({ matched: true, selected: "ready" });
});

test("stores Public surface: ids are listed by their UTF-8 bytes, page by page, those of one definition only", async () => {
  const connector = openProbedDatabase().connect();
  const client = new CasStoreClient(connector);
  const ids = ["b", "a", "é", "\u{1F600}", "\uFFFD", "a\u0001"];
  for (const id of ids) await client.getStore({ definition: Counter, id });
  await client.getStore({ definition: Board, id: "other" });
  expect(await client.listStores(Counter)).toEqual(["a", "a\u0001", "b", "é", "\uFFFD", "\u{1F600}"]);
});
