/** Every event with its review and version, read from the stores one by one, as a file to download. */
import type { Stores } from "wakeful";
import { Earthquake, type EarthquakeState } from "./earthquake.js";
import { Queue, QUEUE_ID } from "./queue.js";

/** Stores read at once. */
const AT_ONCE = 50;

export interface ExportedEvent extends Pick<EarthquakeState, "facts" | "review"> {
  readonly id: string;
  readonly version: number;
}

export async function exportReviews(stores: Stores): Promise<string> {
  const ids = await stores.list(Earthquake);
  const events: ExportedEvent[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const part = ids.slice(from, from + AT_ONCE).map(async (id): Promise<ExportedEvent> => {
      const { state, version } = await stores.store(Earthquake, id).get();
      return { id, version, facts: state.facts, review: state.review };
    });
    events.push(...(await Promise.all(part)));
  }
  const { state: queue } = await stores.store(Queue, QUEUE_ID).get();
  return JSON.stringify({ events, queue }, null, 1);
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
