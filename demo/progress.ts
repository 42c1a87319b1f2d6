/** Where every event is, counted from the queue. */
import { ratings } from "./earthquake.js";
import type { QueueState } from "./queue.js";

export interface Progress {
  readonly total: number;
  readonly imported: number;
  readonly waiting: number;
  readonly inReview: number;
  readonly awaitingApproval: number;
  readonly reviewed: number;
}

/** What counting reads: states and the deeply read-only views of selectors alike. */
type Countable = {
  readonly total: number;
  readonly imported: number;
  readonly waiting: readonly string[];
  readonly desks: { readonly [reviewer: string]: { readonly holding: object | null } };
  readonly approvals: { readonly [eventId: string]: object };
  readonly reviewed: Readonly<QueueState["reviewed"]>;
};

export function countProgress(queue: Countable): Progress {
  return {
    total: queue.total,
    imported: queue.imported,
    waiting: queue.waiting.length,
    inReview: Object.values(queue.desks).filter((desk) => desk.holding !== null).length,
    awaitingApproval: Object.keys(queue.approvals).length,
    reviewed: ratings.reduce((sum, rating) => sum + queue.reviewed[rating], 0),
  };
}

export type Stage = "empty" | "importing" | "reviewing" | "finished";

export function stageOf({ total, imported, reviewed }: Progress): Stage {
  if (total === 0) return "empty";
  if (imported < total) return "importing";
  return reviewed < total ? "reviewing" : "finished";
}
