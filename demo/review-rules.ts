/**
 * What may happen to an event: the updaters, selectors and claims of the desk, free of any I/O.
 *
 * R1  An imported event is in exactly one place: waiting, in one reviewer's hand, awaiting approval, or reviewed.
 * R2  A reviewer has at most one event in hand, and only who has it can rate it.
 * R3  Nobody approves or declines what they rated themselves.
 */
import { APPROVAL_MAGNITUDE, type EarthquakeFacts, type EarthquakeState, type Rating } from "./earthquake.js";
import type { QueueState } from "./queue.js";

/** The rule forbids it now, mostly because another tab was faster. Nothing was changed. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

export interface Verdict {
  readonly rating: Rating;
  readonly note: string;
}

interface Pair {
  readonly quake: EarthquakeState;
  readonly queue: QueueState;
}

/** What looking for the next event reads. */
type Waiting = {
  readonly total: number;
  readonly imported: number;
  readonly waiting: readonly string[];
};

/** Adds events of the feed, newest first. `add` is asked once for each event that was not imported yet. */
export function importEvents(
  queue: QueueState,
  events: readonly EarthquakeFacts[],
  total: number,
  quakeOf: (id: string) => EarthquakeState,
): void {
  queue.total = total;
  for (const facts of events) {
    const quake = quakeOf(facts.id);
    if (quake.facts !== null) continue;
    quake.facts = facts;
    queue.waiting.push(facts.id);
    queue.imported += 1;
  }
}

/** The oldest event that waits, once all are imported. */
export function nextEvent({ total, imported, waiting }: Waiting): string | undefined {
  return total > 0 && imported === total ? waiting.at(-1) : undefined;
}

export function claimEvent(queue: QueueState, eventId: string, reviewer: string, now: number): void {
  const desk = queue.desks[reviewer] ?? { turn: 0, holding: null };
  if (desk.holding !== null) throw new NotAllowed("You have an event in hand already."); // R2
  queue.waiting.pop();
  queue.desks[reviewer] = { turn: desk.turn + 1, holding: { eventId, since: now } };
}

/** Rates the event in hand: for good, or as a request to a second reviewer. */
export function rateEvent({ quake, queue }: Pair, reviewer: string, { rating, note }: Verdict, now: number): void {
  const { facts } = quake;
  const desk = queue.desks[reviewer];
  if (facts === null || desk === undefined || desk.holding?.eventId !== facts.id) {
    throw new NotAllowed("The event is not in your hand any more."); // R2
  }
  desk.holding = null;
  const rated = { rating, note, reviewer, ratedAt: now };
  if (facts.magnitude < APPROVAL_MAGNITUDE) {
    quake.review = { status: "final", ...rated, approvedBy: null };
    queue.reviewed[rating] += 1;
    return;
  }
  quake.review = { status: "awaiting-approval", ...rated };
  const { place, magnitude } = facts;
  queue.approvals[facts.id] = { reviewer, turn: desk.turn, place, magnitude, rating, note, since: now };
}

/** The second reviewer's answer. A declined event is the next one to be taken, by anyone. */
export function decide({ quake, queue }: Pair, reviewer: string, turn: number, approved: boolean): void {
  const { facts, review } = quake;
  const request = facts === null ? undefined : queue.approvals[facts.id];
  if (facts === null || request?.turn !== turn || review.status !== "awaiting-approval") {
    throw new NotAllowed("Another reviewer has decided already.");
  }
  if (request.reviewer === reviewer) throw new NotAllowed("You cannot approve what you rated yourself."); // R3
  delete queue.approvals[facts.id];
  const rated = { rating: review.rating, note: review.note, reviewer: review.reviewer, ratedAt: review.ratedAt };
  if (approved) {
    quake.review = { status: "final", ...rated, approvedBy: reviewer };
    queue.reviewed[review.rating] += 1;
  } else {
    quake.review = { status: "declined", ...rated, declinedBy: reviewer };
    queue.waiting.push(facts.id);
  }
}

/** Puts back what a reviewer whose tab is gone had in hand; it is the next one to be taken. */
export function handBack(queue: QueueState, reviewer: string, turn: number): void {
  const desk = queue.desks[reviewer];
  if (desk === undefined || desk.turn !== turn || desk.holding === null) {
    throw new NotAllowed("The event was handed back already.");
  }
  queue.waiting.push(desk.holding.eventId);
  desk.holding = null;
}
