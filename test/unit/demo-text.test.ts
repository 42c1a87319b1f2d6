import { describe, expect, test } from "vitest";
import { StorageFullError, StorageUnavailableError, WakefulError } from "wakeful";
import { ratingFor } from "../../demo/auto-reviewer.js";
import {
  formatBytes,
  formatCoordinates,
  formatDepth,
  formatMagnitude,
  formatPath,
  formatRank,
  formatTime,
} from "../../demo/event-text.js";
import { describeProblem } from "../../demo/problem-text.js";
import { reviewerName } from "../../demo/reviewer.js";
import { waitingText } from "../../demo/stage-text.js";

describe("the facts in words", () => {
  test("times are UTC, whatever the reader's clock says", () => {
    expect(formatTime(1517966773840)).toBe("Wed, 7 Feb 2018, 01:26 UTC");
  });

  test("depths are kilometres, and above the sea level where negative", () => {
    expect(formatDepth(573.76)).toBe("574 km");
    expect(formatDepth(3.14)).toBe("3.1 km");
    expect(formatDepth(-2.79)).toBe("2.8 km above sea level");
  });

  test("magnitudes have one decimal and a real minus", () => {
    expect(formatMagnitude(6)).toBe("6.0");
    expect(formatMagnitude(-0.8)).toBe("−0.8");
  });

  test("coordinates name their hemisphere", () => {
    expect(formatCoordinates({ latitude: -34.4945, longitude: 118.667 })).toBe("34.49° S, 118.67° E");
  });

  test("sizes have the unit that suits them", () => {
    expect([0, 999, 1000, 12_345_678, 5e12].map(formatBytes)).toEqual([
      "0 bytes",
      "999 bytes",
      "1.0 KB",
      "12 MB",
      "5.0 TB",
    ]);
  });

  test("an event is ranked among those of the week", () => {
    const week = Array.from({ length: 100 }, (_, magnitude) => ({ magnitude }));
    expect(formatRank(99, week)).toBe("The strongest of the week");
    expect(formatRank(97, week)).toBe("Only 2 stronger this week");
    expect(formatRank(50, week)).toBe("Stronger than 50 % of the week");
  });

  test("paths read like code", () => {
    expect(formatPath([])).toBe(".");
    expect(formatPath(["desks", "Basalt-1", "holding"])).toBe("desks.Basalt-1.holding");
    expect(formatPath(["waiting", 12])).toBe("waiting[12]");
  });

  test("a reviewer's name is the id without its random end", () => {
    expect(reviewerName("Basalt-1f2a3b4c")).toBe("Basalt");
  });

  test("an idle reviewer is told what others still have", () => {
    const none = { total: 9, imported: 9, waiting: 0, inReview: 0, awaitingApproval: 0, reviewed: 0 };
    expect(waitingText({ ...none, inReview: 1 })).toMatch(/^There is 1 event in the hands of other reviewers\./);
    expect(waitingText({ ...none, inReview: 2, awaitingApproval: 1 })).toMatch(/^There are 2 events .* and 1 event /);
  });

  test("the automatic reviewer uses every rating", () => {
    expect([1, 3, 5, 6].map(ratingFor)).toEqual(["minor", "felt", "notable", "alarming"]);
  });
});

describe("problems in words", () => {
  test("say what a person can do, by the error's code and the reason of unavailable storage", () => {
    expect(describeProblem(new StorageFullError("x")).advice).toContain("Free some space");
    expect(describeProblem(new StorageUnavailableError("x", { reason: "blocked" })).advice).toContain(
      "ordinary window",
    );
  });

  test("fall back on the error's own message", () => {
    expect(describeProblem(new WakefulError("Do this."))).toEqual({
      title: "Something went wrong.",
      advice: "Do this.",
    });
    expect(describeProblem(new StorageUnavailableError("Do that.", { reason: "failed" })).advice).toBe("Do that.");
    expect(describeProblem("odd").advice).toBe("odd");
  });
});
