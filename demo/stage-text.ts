/** What the cards say when there is nothing to rate: why, and what would change that. */
import { type Rating, ratings } from "./earthquake.js";
import { byId, element, setText } from "./element.js";
import { formatCount, ratingLabels } from "./event-text.js";
import type { Progress } from "./progress.js";

/** Why a reviewer has nothing in hand although not all is reviewed. */
export function waitingText({ waiting, inReview, awaitingApproval }: Progress): string {
  if (waiting > 0) return "The next event is on its way.";
  const reasons = [
    inReview > 0 && `${events(inReview)} in the hands of other reviewers`,
    awaitingApproval > 0 && `${events(awaitingApproval)} waiting for a second reviewer’s approval`,
  ].filter((reason) => reason !== false);
  const back = "If one comes back to the queue, it appears here by itself.";
  return reasons.length === 0
    ? back
    : `There ${inReview + awaitingApproval === 1 ? "is" : "are"} ${reasons.join(" and ")}. ${back}`;
}

export function showFinished(reviewed: Readonly<Record<Rating, number>>): void {
  const all = ratings.reduce((sum, rating) => sum + reviewed[rating], 0);
  setText("finished-text", `All ${formatCount(all)} events have their rating.`);
  byId("tally", HTMLElement).replaceChildren(
    ...ratings.map((rating) =>
      element("li", { "data-rating": rating }, element("b", {}, formatCount(reviewed[rating])), ratingLabels[rating]),
    ),
  );
}

function events(count: number): string {
  return count === 1 ? "1 event" : `${formatCount(count)} events`;
}
