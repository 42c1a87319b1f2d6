/** The store of one event: its facts from the feed, and what the reviewers made of it. */
import { defineStore, type StoreDefinition } from "wakeful";
import { z } from "zod";

/** From harmless to serious; the keys 1 to 4 choose one. */
export const ratings = ["minor", "felt", "notable", "alarming"] as const;
export type Rating = (typeof ratings)[number];

/** From this magnitude on, a second reviewer must agree with the rating. */
export const APPROVAL_MAGNITUDE = 5;

const factsSchema = z.object({
  id: z.string(),
  place: z.string(),
  /** "earthquake", "quarry blast", "explosion": the feed has them all. */
  kind: z.string(),
  magnitude: z.number(),
  /** The method of measuring, such as "ml" or "mww". */
  scale: z.string(),
  /** Kilometres below sea level; above it is negative. */
  depth: z.number(),
  /** Epoch milliseconds. */
  time: z.number(),
  longitude: z.number(),
  latitude: z.number(),
});

const rated = {
  rating: z.enum(ratings),
  note: z.string().max(280),
  reviewer: z.string(),
  /** Epoch milliseconds. */
  ratedAt: z.number(),
};

const reviewSchema = z.discriminatedUnion("status", [
  z.object({ status: z.literal("unrated") }),
  z.object({ status: z.literal("awaiting-approval"), ...rated }),
  z.object({ status: z.literal("declined"), ...rated, declinedBy: z.string() }),
  z.object({ status: z.literal("final"), ...rated, approvedBy: z.string().nullable() }),
]);

const earthquakeSchema = z.object({
  /** Null until the event is imported. */
  facts: factsSchema.nullable(),
  review: reviewSchema,
});

export type EarthquakeFacts = z.infer<typeof factsSchema>;
export type Review = z.infer<typeof reviewSchema>;
export type EarthquakeState = z.infer<typeof earthquakeSchema>;

export const Earthquake: StoreDefinition<EarthquakeState> = defineStore("earthquake", earthquakeSchema, {
  initial: () => ({ facts: null, review: { status: "unrated" } }),
});
