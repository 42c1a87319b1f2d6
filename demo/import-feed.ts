/** Puts every event of the feed into its own store, and its id into the queue. */
import type { StoreHandle, Stores } from "wakeful";
import { Earthquake, type EarthquakeFacts, type EarthquakeState } from "./earthquake.js";
import { persevere } from "./persevere.js";
import type { QueueState } from "./queue.js";
import { importEvents } from "./review-rules.js";
import { stepIds } from "./step-ids.js";

/** Events in one commit. */
const BATCH = 100;

/** The stores of one batch under their names in the transaction. */
type BatchStates = { queue: QueueState } & { [event: `event ${string}`]: EarthquakeState };
type BatchStores = { queue: StoreHandle<QueueState> } & { [event: `event ${string}`]: StoreHandle<EarthquakeState> };

/**
 * Imports what is not imported yet. Each batch is one commit with a step id of its own, so running this twice, in two
 * tabs at once, or again after a tab was closed half-way imports each event once.
 */
export async function importFeed(
  stores: Stores,
  queue: StoreHandle<QueueState>,
  feed: readonly EarthquakeFacts[],
): Promise<void> {
  for (let from = 0; from < feed.length; from += BATCH) {
    const events = feed.slice(from, from + BATCH);
    const first = events[0];
    if (first === undefined) return;
    const batch: BatchStores = { queue };
    for (const { id } of events) batch[`event ${id}`] = stores.store(Earthquake, id);
    await persevere(() =>
      stores.transact<BatchStates>(
        batch,
        (drafts) =>
          importEvents(drafts.queue, events, feed.length, (id) => {
            const quake = drafts[`event ${id}`];
            if (quake === undefined) throw new Error(`${id} is not part of this batch`);
            return quake;
          }),
        { stepId: stepIds.importBatch(first.id) },
      ),
    );
  }
}
