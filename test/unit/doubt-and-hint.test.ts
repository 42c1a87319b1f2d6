import { expect, test } from "vitest";
import { defineStore, type StoreDefinition } from "../../src/define-store.js";
import { OutcomeUnknownError } from "../../src/protocol/errors.js";
import { createStores } from "../../src/stores.js";
import { openMemoryDatabase } from "../support/memory-connector.js";

interface Queue {
  readonly items: readonly string[];
}

const schema: StoreDefinition<Queue>["schema"] = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Queue }) },
};
const Queues = defineStore("queue", schema, { initial: (): Queue => ({ items: [] }) });

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

// Found by client-model.test.ts: the doubt that a lost commit leaves behind was numbered like the next real commit, and
// the reading that dispelled it dispelled the hint of that commit too.
test("stores 12: a hint that comes while a doubt is being cleared up is not lost with it", async () => {
  const arrived = gate();
  const answered = gate();
  let readings = 0;
  let isLost = true;
  const memory = openMemoryDatabase({
    interleaving: {
      beforeCall: async ({ session, method }) => {
        if (session !== "waiter" || method !== "commit" || !isLost) return;
        isLost = false;
        throw new OutcomeUnknownError("The owner was lost.");
      },
      afterCall: async ({ session, method }) => {
        if (session !== "waiter" || method !== "readStore") return;
        readings += 1;
        if (readings !== 2) return;
        arrived.open();
        await answered.opened;
      },
    },
  });
  const waiter = createStores(memory.connect("waiter"));
  const writer = createStores(memory.connect("writer"));

  const got = waiter
    .store(Queues, "a")
    .get()
    .catch((error: unknown) => error);
  const taken = waiter.store(Queues, "a").take(
    (queue) => queue.items[0],
    (draft) => void draft.items.shift(),
  );
  expect(await got).toBeInstanceOf(OutcomeUnknownError);
  await arrived.opened;
  const heard = new Promise((resolve) => waiter.on("commit", resolve));
  await writer.store(Queues, "a").update((draft) => void draft.items.push("item"));
  await heard;
  answered.open();
  expect(await taken).toBe("item");
  await Promise.all([waiter.close(), writer.close()]);
});
