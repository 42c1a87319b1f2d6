/** Every version that ever was in a database, recorded in the moment in which it was committed. */
import type { MemoryDatabase } from "../support/memory-database.js";

/** The state of the stores of the model. Every write of a client adds its own name to the log, and nothing else does. */
export interface ModelState {
  readonly log: readonly string[];
  readonly items: readonly string[];
  readonly count: number;
}

export interface HistoryEntry {
  readonly sequence: number;
  readonly storeId: string;
  readonly instanceId: string;
  readonly version: number;
  /** Null: deleted. */
  readonly state: ModelState | null;
  /** The executions whose wakes were requested by then. */
  readonly woken: ReadonlySet<string>;
}

export class StoreHistory {
  readonly entries: HistoryEntry[] = [];

  /** To be called in the moment of every commit. */
  record(database: MemoryDatabase): void {
    const reading = database.readChanges({ after: this.head, limit: 10_000 });
    if (reading.status === "trimmed") throw new Error("The history began too late.");
    const wakes = database.wakes.read({ limit: 10_000, claim: false }, "history");
    const woken = new Set(wakes.map(({ executionId }) => executionId));
    for (const { sequence, storeName, storeId, instanceId, version, deleted } of reading.changes) {
      const { snapshot } = database.readStore({ storeName, storeId });
      const state = deleted || snapshot === null ? null : (JSON.parse(snapshot.state) as ModelState);
      this.entries.push({ sequence, storeId, instanceId, version, state, woken });
    }
  }

  get head(): number {
    return this.entries.at(-1)?.sequence ?? 0;
  }

  /** The newest entry of a store as of `sequence`: undefined if there never was one, or it was deleted. */
  at(storeId: string, sequence: number): HistoryEntry | undefined {
    const found = this.entries.filter((entry) => entry.storeId === storeId && entry.sequence <= sequence).at(-1);
    return found?.state === null ? undefined : found;
  }

  /** Whether the store once was, between two sequences, as `matches` says. */
  was(
    storeId: string,
    [from, to]: readonly [number, number],
    matches: (entry: HistoryEntry | undefined) => boolean,
  ): boolean {
    for (let sequence = from; sequence <= to; sequence++) if (matches(this.at(storeId, sequence))) return true;
    return false;
  }

  /** The commits that a write with this name made; one entry for each store. */
  writesOf(name: string): readonly HistoryEntry[] {
    return this.entries.filter((entry) => entry.state?.log.at(-1) === name);
  }
}
