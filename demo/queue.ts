/** The store that all reviewers share: what waits, who has what in hand, what waits for a second reviewer. */
import { defineStore, type StoreDefinition } from "wakeful";
import { z } from "zod";
import { ratings } from "./earthquake.js";

const approvalRequestSchema = z.object({
  reviewer: z.string(),
  /** The reviewer's turn that made the request: an event may be rated again after it was declined. */
  turn: z.number(),
  place: z.string(),
  magnitude: z.number(),
  rating: z.enum(ratings),
  note: z.string(),
  /** Epoch milliseconds. */
  since: z.number(),
});

const deskSchema = z.object({
  /** How many events this reviewer has taken: with it a take's step id is the same after a reload. */
  turn: z.number(),
  holding: z.object({ eventId: z.string(), since: z.number() }).nullable(),
});

const queueSchema = z.object({
  /** Events in the feed; 0 until an import has begun. */
  total: z.number(),
  imported: z.number(),
  /** Ids, newest event first. Taken from the end, which changes one path; taking from the front would move them all. */
  waiting: z.array(z.string()),
  /** By reviewer. */
  desks: z.record(z.string(), deskSchema),
  /** By event. */
  approvals: z.record(z.string(), approvalRequestSchema),
  /** How many events have got each rating for good. */
  reviewed: z.record(z.enum(ratings), z.number()),
});

export type QueueState = z.infer<typeof queueSchema>;
export type ApprovalRequest = z.infer<typeof approvalRequestSchema>;

export const Queue: StoreDefinition<QueueState> = defineStore("queue", queueSchema, {
  initial: () => ({
    total: 0,
    imported: 0,
    waiting: [],
    desks: {},
    approvals: {},
    reviewed: { minor: 0, felt: 0, notable: 0, alarming: 0 },
  }),
});

/** The one queue there is. */
export const QUEUE_ID = "all";
