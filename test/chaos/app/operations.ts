/** The operations of the load, on the stores that they share. */
import { z } from "zod";
import { defineStore, ExecutionForgottenError, type Stores } from "../../../src/index.js";
import type { Operation, Outcome } from "../entries.js";

export const Count = defineStore("count", z.object({ count: z.number(), last: z.string() }), {
  initial: () => ({ count: 0, last: "" }),
});

export const Queue = defineStore(
  "queue",
  z.object({ waiting: z.array(z.string()), taken: z.array(z.object({ item: z.string(), by: z.string() })) }),
  { initial: () => ({ waiting: [], taken: [] }) },
);

/** Milliseconds that a wait lasts; three times what a lost event costs. */
const PATIENCE = 15_000;

/**
 * @param signal ends waits
 * @param unit the name under which it is known what this call has written
 */
export async function perform(
  stores: Stores,
  operation: Operation,
  unit: string,
  step: string | null,
  signal: AbortSignal,
): Promise<Outcome> {
  const options = step === null ? {} : { stepId: { executionId: `chaos-${step}`, stepKey: "only" } };
  const deadline = Date.now() + PATIENCE;
  switch (operation.kind) {
    case "increment": {
      const counter = stores.store(Count, operation.store);
      const { version, state } = await counter.update((draft) => {
        draft.count += 1;
        draft.last = unit;
      }, options);
      return { kind: "written", version, count: state.count };
    }
    case "read": {
      const { instanceId, version, state } = await stores.store(Count, operation.store).get();
      return { kind: "read", instanceId, version, ...state };
    }
    case "put": {
      const queue = stores.store(Queue, operation.store);
      const { version } = await queue.update((draft) => void draft.waiting.push(operation.item), options);
      return { kind: "written", version, count: version };
    }
    case "take": {
      const queue = stores.store(Queue, operation.store);
      const taken = await queue.take(
        (state) => state.waiting[0],
        (draft) => {
          const item = draft.waiting.shift();
          if (item !== undefined) draft.taken.push({ item, by: unit });
        },
        { ...options, deadline, signal },
      );
      return taken.status === "matched" ? { kind: "taken", item: taken.selected } : { kind: "timed-out" };
    }
    case "transfer": {
      let sum = 0;
      const accounts = { from: stores.store(Count, operation.store), to: stores.store(Count, operation.to) };
      const { from, to } = await stores.transact(
        accounts,
        (drafts) => {
          sum = drafts.from.count + drafts.to.count;
          drafts.from.count -= operation.amount;
          drafts.to.count += operation.amount;
          drafts.from.last = drafts.to.last = unit;
        },
        options,
      );
      return { kind: "transferred", version: from.version, toVersion: to.version, sum };
    }
    case "delete":
      await stores.delete(Count, operation.store);
      return { kind: "deleted" };
    case "sleep": {
      const { instanceId, version } = await stores.store(Count, operation.store).get();
      const waiter = {
        workflowId: "chaos",
        executionId: unit,
        stepKey: "sleep",
        storeName: Count.name,
        storeId: operation.store,
        instanceId,
        sinceVersion: version,
        readPaths: [["count"]],
      };
      try {
        await stores.registerWaiter(waiter);
        return { kind: "asleep", instanceId, since: version };
      } catch (error) {
        if (error instanceof ExecutionForgottenError) return { kind: "awake" };
        throw error;
      }
    }
    case "wait": {
      const counter = stores.store(Count, operation.store);
      const waited = await counter.when((state) => state.count >= operation.count && state.count, { deadline, signal });
      return waited.status === "matched" ? { kind: "matched", count: waited.value } : { kind: "timed-out" };
    }
  }
}
