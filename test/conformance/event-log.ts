/** Everything that one session hears, with a way to wait for what is still to come. */
import type { StoreConnector } from "../../src/protocol/connector.js";
import type { StoreEvent } from "../../src/protocol/events.js";

/** How long something may take to be heard of before it counts as lost, on a machine that has much else to do. */
export const PATIENCE_MS = 5000;

export interface EventLog {
  readonly events: readonly StoreEvent[];
  /** The first event, heard already or not yet, that `matches`. */
  until(matches: (event: StoreEvent) => boolean): Promise<StoreEvent>;
  /** Sequences of all commit events heard, in the order heard, one for each commit. */
  sequences(): readonly number[];
  stop(): void;
}

/** Listens from now on. `onEvent` runs as each event is heard, before `until` goes on. */
export function listen(connector: StoreConnector, onEvent?: (event: StoreEvent) => void): EventLog {
  const events: StoreEvent[] = [];
  const waiting = new Set<() => void>();
  const stop = connector.subscribe((event) => {
    events.push(event);
    onEvent?.(event);
    for (const check of [...waiting]) check();
  });

  function until(matches: (event: StoreEvent) => boolean): Promise<StoreEvent> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(new Error(`No such event in ${PATIENCE_MS} ms. Heard: ${JSON.stringify(events)}`));
      }, PATIENCE_MS);
      const check = (): void => {
        const found = events.find(matches);
        if (found === undefined) return;
        waiting.delete(check);
        clearTimeout(timer);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  }

  return {
    events,
    until,
    sequences: () => [
      ...new Set(
        events.flatMap((event) => (event.type === "commit" ? event.changes.map((change) => change.sequence) : [])),
      ),
    ],
    stop,
  };
}

/** Whether an event is of the commit with this sequence. */
export function isCommit(sequence: number): (event: StoreEvent) => boolean {
  return (event) => event.type === "commit" && event.changes.some((change) => change.sequence === sequence);
}

/** Whether an event asks for this execution to be delivered. */
export function isWake(executionId: string): (event: StoreEvent) => boolean {
  return (event) => event.type === "wake" && event.executionIds.includes(executionId);
}
