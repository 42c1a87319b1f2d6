import { describe, expect, test } from "vitest";
import { type EarthquakeState, Earthquake } from "../../demo/earthquake.js";
import { countProgress, stageOf } from "../../demo/progress.js";
import { Queue, type QueueState } from "../../demo/queue.js";
import {
  claimEvent,
  decide,
  handBack,
  importEvents,
  NotAllowed,
  nextEvent,
  rateEvent,
} from "../../demo/review-rules.js";

const facts = (id: string, magnitude = 2) => ({
  id,
  place: `near ${id}`,
  kind: "earthquake",
  magnitude,
  scale: "ml",
  depth: 10,
  time: 1_517_966_773_840,
  longitude: -118,
  latitude: 34,
});

/** A desk with these events imported, newest first. */
function imported(...events: ReturnType<typeof facts>[]) {
  const queue = structuredClone(Queue.initial("all")) as QueueState;
  const quakes = new Map<string, EarthquakeState>();
  const quakeOf = (id: string): EarthquakeState => {
    const quake = quakes.get(id) ?? (structuredClone(Earthquake.initial(id)) as EarthquakeState);
    quakes.set(id, quake);
    return quake;
  };
  const add = () => importEvents(queue, events, events.length, quakeOf);
  add();
  return { queue, quakeOf, add };
}

function take(queue: QueueState, reviewer: string): string {
  const eventId = nextEvent(queue);
  if (eventId === undefined) throw new Error("Nothing waits");
  claimEvent(queue, eventId, reviewer, 1);
  return eventId;
}

/** R1: how many places each event is in. */
function placesOf({ queue, quakeOf }: ReturnType<typeof imported>, id: string): number {
  const held = Object.values(queue.desks).filter((desk) => desk.holding?.eventId === id).length;
  const final = quakeOf(id).review.status === "final" ? 1 : 0;
  return queue.waiting.filter((waiting) => waiting === id).length + held + (id in queue.approvals ? 1 : 0) + final;
}

describe("the desk's rules", () => {
  test("R1: an event is in exactly one place from its import to its rating", () => {
    const desk = imported(facts("weak"), facts("strong", 6));
    const both = () => [placesOf(desk, "weak"), placesOf(desk, "strong")];
    expect(both()).toEqual([1, 1]);
    expect(take(desk.queue, "a")).toBe("strong"); // The oldest is the last of the feed.
    expect(both()).toEqual([1, 1]);
    rateEvent({ quake: desk.quakeOf("strong"), queue: desk.queue }, "a", { rating: "alarming", note: "" }, 2);
    expect(both()).toEqual([1, 1]);
    decide({ quake: desk.quakeOf("strong"), queue: desk.queue }, "b", 1, false);
    expect(both()).toEqual([1, 1]);
    expect(take(desk.queue, "b")).toBe("strong");
    handBack(desk.queue, "b", 1);
    expect(both()).toEqual([1, 1]);
    take(desk.queue, "a");
    rateEvent({ quake: desk.quakeOf("strong"), queue: desk.queue }, "a", { rating: "notable", note: "" }, 3);
    decide({ quake: desk.quakeOf("strong"), queue: desk.queue }, "b", 2, true);
    expect(both()).toEqual([1, 1]);
    expect(desk.quakeOf("strong").review).toMatchObject({ status: "final", rating: "notable", approvedBy: "b" });
    expect(countProgress(desk.queue)).toMatchObject({ reviewed: 1, waiting: 1, inReview: 0, awaitingApproval: 0 });
  });

  test("importing again imports nothing twice, also after an event was reviewed", () => {
    const desk = imported(facts("one"), facts("two"));
    take(desk.queue, "a");
    rateEvent({ quake: desk.quakeOf("two"), queue: desk.queue }, "a", { rating: "felt", note: "weak" }, 2);
    desk.add();
    expect(desk.queue).toMatchObject({ imported: 2, total: 2, waiting: ["one"] });
    expect(desk.quakeOf("two").review.status).toBe("final");
  });

  test("nothing can be taken before the import is complete", () => {
    const { queue } = imported(facts("one"));
    expect(nextEvent({ ...queue, total: 2 })).toBeUndefined();
    expect(nextEvent(queue)).toBe("one");
    expect(nextEvent(structuredClone(Queue.initial("all")))).toBeUndefined();
  });

  test("R2: who has an event in hand takes no second one", () => {
    const { queue } = imported(facts("one"), facts("two"));
    take(queue, "a");
    expect(() => claimEvent(queue, "one", "a", 2)).toThrow(NotAllowed);
  });

  test("R2: an event that was handed back cannot be rated by who had it", () => {
    const desk = imported(facts("one"));
    take(desk.queue, "a");
    handBack(desk.queue, "a", 1);
    const quake = desk.quakeOf("one");
    expect(() => rateEvent({ quake, queue: desk.queue }, "a", { rating: "felt", note: "" }, 2)).toThrow(NotAllowed);
    expect(quake.review.status).toBe("unrated");
  });

  test("a second hand-back of the same turn is refused, so that it cannot take away a later event", () => {
    const { queue } = imported(facts("one"), facts("two"));
    take(queue, "a");
    handBack(queue, "a", 1);
    expect(() => handBack(queue, "a", 1)).toThrow(NotAllowed);
    take(queue, "a");
    expect(() => handBack(queue, "a", 1)).toThrow(NotAllowed);
  });

  test("an event below magnitude 5 is final at once, one of magnitude 5 waits for approval", () => {
    const desk = imported(facts("five", 5), facts("below", 4.99));
    for (const id of ["below", "five"]) {
      expect(take(desk.queue, "a")).toBe(id);
      rateEvent({ quake: desk.quakeOf(id), queue: desk.queue }, "a", { rating: "notable", note: "" }, 2);
    }
    expect(desk.quakeOf("below").review).toMatchObject({ status: "final", approvedBy: null });
    expect(desk.quakeOf("five").review.status).toBe("awaiting-approval");
    expect(Object.keys(desk.queue.approvals)).toEqual(["five"]);
  });

  test("R3: nobody decides on their own rating, and only the first decision counts", () => {
    const desk = imported(facts("strong", 6));
    take(desk.queue, "a");
    const pair = { quake: desk.quakeOf("strong"), queue: desk.queue };
    rateEvent(pair, "a", { rating: "alarming", note: "" }, 2);
    expect(() => decide(pair, "a", 1, true)).toThrow(NotAllowed);
    decide(pair, "b", 1, true);
    expect(() => decide(pair, "c", 1, false)).toThrow(NotAllowed);
    expect(pair.quake.review).toMatchObject({ status: "final", approvedBy: "b" });
  });

  test("the stage follows from where the events are", () => {
    const none = { total: 0, imported: 0, waiting: 0, inReview: 0, awaitingApproval: 0, reviewed: 0 };
    expect(stageOf(none)).toBe("empty");
    expect(stageOf({ ...none, total: 3, imported: 2 })).toBe("importing");
    expect(stageOf({ ...none, total: 3, imported: 3, reviewed: 2 })).toBe("reviewing");
    expect(stageOf({ ...none, total: 3, imported: 3, reviewed: 3 })).toBe("finished");
  });
});
