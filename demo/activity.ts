/**
 * What this tab did, as DOM events on `window`: `desk-activity` with one of these as its `detail`. For whoever looks on
 * from outside, such as scripts/demo-check.mjs; nothing in the app depends on them.
 */
import type { Rating } from "./earthquake.js";

export type Activity =
  | { readonly type: "imported" }
  | { readonly type: "taken"; readonly reviewer: string; readonly turn: number; readonly eventId: string }
  /** After a reload: the event was in this reviewer's hand already. */
  | { readonly type: "resumed"; readonly reviewer: string; readonly turn: number; readonly eventId: string }
  | {
      readonly type: "rated";
      readonly reviewer: string;
      readonly turn: number;
      readonly eventId: string;
      readonly rating: Rating;
    }
  | { readonly type: "decided"; readonly reviewer: string; readonly eventId: string; readonly approved: boolean }
  /** `reviewer` is the one who left. Two tabs may both say so: it was done once. */
  | { readonly type: "handed-back"; readonly reviewer: string; readonly turn: number; readonly eventId: string }
  /** The wait for a second reviewer ended. */
  | { readonly type: "answered"; readonly reviewer: string; readonly eventId: string; readonly approved: boolean }
  | { readonly type: "problem"; readonly text: string };

export function reportActivity(activity: Activity): void {
  dispatchEvent(new CustomEvent<Activity>("desk-activity", { detail: activity }));
}
