/** stores 32: how states, drafts and results look to those who use a store. Compiled, never run. */
import { z } from "zod";
import { defineStore } from "../../src/define-store.js";
import type { DeepReadonly } from "../../src/durable-type.js";
import type { ObservedSnapshot, StoreClient, StoreHandle, StoreUpdate } from "../../src/store-client.js";
import type { Stores } from "../../src/stores.js";
import { type Equal, typeTest } from "./type-test.js";

const Orders = defineStore(
  "orders",
  z.object({
    status: z.enum(["open", "closed"]),
    items: z.array(z.object({ id: z.string(), count: z.number() })).readonly(),
    note: z.string().optional(),
  }),
  { initial: () => ({ status: "open", items: [] }) },
);
const Stock = defineStore("stock", z.object({ left: z.number() }), { initial: () => ({ left: 0 }) });

type Order = {
  status: "open" | "closed";
  items: readonly { id: string; count: number }[];
  note?: string | undefined;
};

declare const stores: Stores;
declare const client: StoreClient;
declare const order: StoreHandle<Order>;

typeTest("stores 32: a handle has the state of its definition", () => {
  const handle = stores.store(Orders, "x");
  const same: Equal<typeof handle, StoreHandle<Order>> = true;
  return same;
});

typeTest("stores 32: drafts can be written to, also where the schema says read-only", () => {
  void order.update((draft) => {
    draft.status = "closed";
    draft.items.push({ id: "a", count: 1 });
    const [first] = draft.items;
    if (first !== undefined) first.count += 1;
    delete draft.note;
  });
  void order.update((draft) => ({ ...draft, status: "open" }));
  void order.update((draft) => draft);
  // @ts-expect-error "opened" is no status
  void order.update((draft) => void (draft.status = "opened"));
  // @ts-expect-error a replacement is a whole state
  void order.update(() => ({ status: "open" }));
  // @ts-expect-error `push` returns a number, which is no state
  void order.update((draft) => draft.items.push({ id: "a", count: 1 }));
  // @ts-expect-error an updater is synchronous
  void order.update(async (draft) => void (draft.status = "closed"));
});

typeTest("stores 32: snapshots and what selectors see are read-only all the way down", async () => {
  const snapshot = await order.get();
  // @ts-expect-error read-only
  snapshot.state.status = "closed";
  // @ts-expect-error read-only
  snapshot.version = 3;
  const [first] = snapshot.state.items;
  // @ts-expect-error read-only
  if (first !== undefined) first.count = 1;
  void order.when((state) => {
    // @ts-expect-error read-only
    state.status = "closed";
    return state.status;
  });
  const peeked: ObservedSnapshot<Order> | undefined = order.peek();
  // @ts-expect-error a store that is missing has no version to update from
  if (peeked !== undefined) void order.updateFrom(peeked, () => undefined);
  if (peeked?.version != null) void order.updateFrom(peeked, () => undefined);
});

typeTest("stores 32: a snapshot's state can replace a state", async () => {
  const { state } = await order.get();
  const same: Equal<typeof state, DeepReadonly<Order>> = true;
  void order.update(() => state);
  return same;
});

typeTest("stores 8: what matched is not undefined, null or false, and a claim can edit it", async () => {
  const taken = await order.take(
    (state) => state.items.find(({ count }) => count > 0),
    (draft, item) => {
      item.count -= 1;
      draft.status = "closed";
    },
  );
  const takenType: Equal<typeof taken, { readonly id: string; readonly count: number }> = true;
  const found = await order.when((state) => (state.note === undefined ? null : state.note));
  const foundType: Equal<typeof found, string> = true;
  const flag = await order.when((state) => state.status === "closed");
  const flagType: Equal<typeof flag, true> = true;
  return [takenType, foundType, flagType];
});

typeTest("stores Public surface: with a deadline a wait answers a union, without one the value", async () => {
  const outcome = await order.when((state) => state.note, { deadline: 0 });
  if (outcome.status === "matched") {
    const value: string = outcome.value;
    return value;
  }
  // @ts-expect-error there is no value when it timed out
  void outcome.value;
  const taken = await order.take(
    (state) => state.items[0],
    () => undefined,
    { deadline: 0 },
  );
  // @ts-expect-error the union has to be looked at first
  return taken.selected;
});

typeTest("stores 18: a transaction's drafts and results have the names and states of its stores", async () => {
  const stock = stores.store(Stock, "x");
  const updates = await stores.transact({ order, stock }, (drafts) => {
    drafts.stock.left -= 1;
    drafts.order.items.push({ id: "a", count: 1 });
    drafts.order = { status: "closed", items: [] };
    // @ts-expect-error there is no such store
    drafts.other = 1;
  });
  const type: Equal<typeof updates.stock, StoreUpdate<{ left: number }>> = true;
  return type;
});

typeTest("stores Public surface: at StoreClient the definition alone decides the state's type", () => {
  const address = { definition: Stock, id: "x" };
  void client.updateStore({ ...address, updater: () => undefined });
  void client.updateStore({ ...address, updater: (draft) => void draft.left++ });
  void client.takeFromStore({
    ...address,
    selector: (state) => ({ left: state.left }),
    claim: (draft, selected) => {
      draft.left = selected.left - 1;
    },
  });
  // @ts-expect-error no such key
  void client.updateStore({ ...address, updater: (draft) => void draft.right++ });
});
