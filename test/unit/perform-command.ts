/** What the commands of a program do with a client. */
import { defineStore, type StoreDefinition } from "../../src/define-store.js";
import type { StepId } from "../../src/protocol/connector.js";
import type { SnapshotReference, StoreAddress } from "../../src/store-client.js";
import type { Stores } from "../../src/stores.js";
import type { Command, StoreName } from "./client-program.js";
import type { ModelState } from "./store-history.js";

const schema: StoreDefinition<ModelState>["schema"] = {
  "~standard": { version: 1, vendor: "model", validate: (value) => ({ value: value as ModelState }) },
};
export const Model = defineStore("model", schema, { initial: (): ModelState => ({ log: [], items: [], count: 0 }) });
export const addressOf = (store: StoreName): StoreAddress<ModelState> => ({ definition: Model, id: store });
export const a = addressOf("a");
export const b = addressOf("b");

/** Makes the call that a command stands for. `name` is what it writes into logs. */
export async function performCommand(
  stores: Stores,
  command: Command,
  name: string,
  stepId: StepId | undefined,
  snapshot: SnapshotReference = { instanceId: "none", version: 0 },
): Promise<unknown> {
  const options = stepId === undefined ? {} : { stepId };
  switch (command.type) {
    case "get":
      return stores.getStore(addressOf(command.store));
    case "update":
      return stores.updateStore({ ...addressOf(command.store), ...options, updater: edit(name) });
    case "put":
      return stores.updateStore({ ...addressOf(command.store), ...options, updater: put(name) });
    case "update-from":
      return stores.updateStoreFrom({ ...addressOf(command.store), ...options, snapshot, updater: edit(name) });
    case "take":
      return stores.takeFromStore({
        ...addressOf(command.store),
        ...options,
        selector: firstItem,
        claim: shift(name),
      });
    case "wait-take":
      return stores.store(Model, command.store).take(firstItem, shift(name));
    case "when":
      return stores.store(Model, command.store).when((state) => state.count >= 2 && state.log);
    case "wait-durably":
      return waitDurably(stores, command.store, name);
    case "delete-from":
      return stores.deleteStoreFrom({ ...addressOf(command.store), ...options, snapshot });
    case "delete":
      return stores.deleteStore(addressOf(command.store));
    case "transact":
      return stores.transactStores({
        stores: { a, b },
        ...options,
        updater: (drafts) => {
          edit(name)(drafts.a);
          edit(name)(drafts.b);
        },
      });
    case "forget":
      return stores.forgetExecution(`E${command.execution}`);
    case "restart":
      throw new Error("A restart is no call of a client.");
  }
}

const firstItem = (state: ModelState): string | undefined => state.items[0];

/** What a durable wait looks at: more than a take of the first item would. */
export const secondItem = (state: ModelState): string | false => state.items.length > 1 && (state.items[1] ?? false);

interface ModelDraft {
  log: string[];
  items: string[];
  count: number;
}

const edit = (name: string) => (draft: ModelDraft) => {
  draft.log.push(name);
  draft.count += 1;
};
const put = (name: string) => (draft: ModelDraft) => {
  draft.log.push(name);
  draft.items.push(`item-${name}`);
};
const shift = (name: string) => (draft: ModelDraft) => {
  draft.log.push(name);
  draft.items.shift();
};

/** As an execution does: tries to take, and leaves a waiter behind if it found nothing. */
async function waitDurably(stores: Stores, store: StoreName, name: string): Promise<unknown> {
  const attempt = await stores.takeFromStore({ ...addressOf(store), selector: secondItem, claim: shift(name) });
  if (attempt.matched) return attempt;
  const { instanceId, version: sinceVersion, readPaths } = attempt;
  const execution = { workflowId: "W", executionId: `W-${name}`, stepKey: "wait" };
  const waiter = { ...execution, storeName: Model.name, storeId: store, instanceId, sinceVersion, readPaths };
  return { ...attempt, waiter: await stores.registerWaiter(waiter) };
}
