/** What one page makes of opening a database more than once. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineStore } from "../../src/define-store.js";
import { type OpenStoresOptions, openStores } from "../../src/open-stores.js";
import { ClosedError, InvalidArgumentError } from "../../src/protocol/errors.js";
import { ownerLock } from "../../src/protocol/wire.js";
import type { Stores } from "../../src/stores.js";

const Counter = defineStore("counter", z.object({ n: z.number() }), { initial: () => ({ n: 0 }) });
const open = new Set<Stores>();
let name = "";

beforeEach(() => {
  name = `open-stores-${crypto.randomUUID()}`;
});
afterEach(async () => {
  for (const stores of open) await stores.close();
  open.clear();
});

async function openOne(options: Partial<OpenStoresOptions> = {}): Promise<Stores> {
  const stores = await openStores({ name, ...options });
  open.add(stores);
  return stores;
}

/** How many workers hold or want the ownership of this test's database. */
async function owners(): Promise<number> {
  const { held = [], pending = [] } = await navigator.locks.query();
  return [...held, ...pending].filter((lock) => lock.name === ownerLock(name)).length;
}

test("tabs 20: opening a name twice shares one connection, which ends with the last of them", async () => {
  const [first, second] = await Promise.all([openOne(), openOne()]);
  expect(second.session).toBe(first.session);
  expect(await owners()).toBe(1);
  await first.store(Counter, "x").update((draft) => void draft.n++);
  expect((await second.store(Counter, "x").get()).state).toEqual({ n: 1 });

  const mine = first.store(Counter, "x").when((state) => state.n === 3);
  const ended = mine.catch((error: unknown) => error);
  const theirs = second.store(Counter, "x").when((state) => state.n === 2);
  await first.close();
  await first.close();
  expect(await ended).toBeInstanceOf(ClosedError);
  await expect(first.store(Counter, "x").get()).rejects.toThrow(ClosedError);
  await second.store(Counter, "x").update((draft) => void draft.n++);
  expect(await theirs).toBe(true);
  expect(await owners()).toBe(1);

  await second.close();
  await expect.poll(owners).toBe(0);
});

test("tabs 20: closing and opening again at once, as React's effects do, leaves no second worker behind", async () => {
  for (let round = 0; round < 3; round++) {
    const first = openStores({ name });
    const closing = first.then((stores) => stores.close());
    const second = await openOne();
    await closing;
    const { version } = await second.store(Counter, "x").update((draft) => void draft.n++);
    expect(version).toBe(round + 1);
    expect(await owners()).toBe(1);
    await second.close();
  }
  await expect.poll(owners).toBe(0);
});

test("tabs 24: the stricter durability counts for both, and any other difference is a typed error", async () => {
  const relaxed = await openOne({ durability: "relaxed", ownerTimeout: 7_000 });
  expect(await relaxed.storage()).toMatchObject({ kind: "opfs", durability: "relaxed" });
  const others: Partial<OpenStoresOptions>[] = [
    {},
    { ownerTimeout: 8_000 },
    { ownerTimeout: 7_000, fallback: "memory" },
    { ownerTimeout: 7_000, changesLimit: 5 },
    { ownerTimeout: 7_000, logger: console },
    { ownerTimeout: 7_000, workerUrl: "/elsewhere.js" },
  ];
  for (const options of others) await expect(openStores({ name, ...options })).rejects.toThrow(InvalidArgumentError);
  expect(await relaxed.storage()).toMatchObject({ durability: "relaxed" });

  const strict = await openOne({ durability: "strict", ownerTimeout: 7_000 });
  await expect
    .poll(async () => (await relaxed.storage()) as { durability?: string })
    .toMatchObject({ durability: "strict" });
  await strict.store(Counter, "x").update((draft) => void draft.n++);
  expect((await relaxed.store(Counter, "x").get()).state).toEqual({ n: 1 });
  await openOne({ durability: "relaxed", ownerTimeout: 7_000 });
  expect(await relaxed.storage()).toMatchObject({ durability: "strict" });
});
