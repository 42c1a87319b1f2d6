import { describe, expect, test } from "vitest";
import * as errors from "../../src/protocol/errors.js";

type ErrorClass = typeof errors.WakefulError;

/** Every class of the module but the base. */
const classes = Object.values(errors).filter(
  (member): member is ErrorClass => typeof member === "function" && member.prototype instanceof errors.WakefulError,
);

/** As the boundary does it. */
function cross(error: unknown): errors.WakefulError {
  return errors.fromWire(structuredClone(errors.toWire(error)));
}

describe("stores Errors: every kind", () => {
  test.each(classes.map((type) => ({ code: type.code, type })))("$code crosses the boundary as itself", ({ type }) => {
    const cause = new DOMException("The quota is exceeded.", "QuotaExceededError");
    const sent = new type("What happened. What to do.", { path: ["a", 0], nested: { deep: [null, 1] } }, { cause });
    const arrived = cross(sent);
    expect(arrived).toBeInstanceOf(type);
    expect(arrived).toBeInstanceOf(errors.WakefulError);
    expect(arrived).toMatchObject({ code: type.code, name: sent.name, message: sent.message, details: sent.details });
    expect(arrived.cause).toMatchObject({ name: "QuotaExceededError", message: cause.message });
  });

  test.each(classes.map((type) => ({ code: type.code, type })))("$code has a name of its own", ({ code, type }) => {
    expect(code).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(classes.filter((other) => other.code === code)).toEqual([type]);
    expect(new type("").name).toBe(type.name);
  });
});

test("stores Errors: what a kind knows beside its message arrives with it", () => {
  const issues = [{ message: "Too small.", path: ["count"] }];
  expect(cross(new errors.ValidationFailedError("", { issues }))).toMatchObject({ issues });
  expect(cross(new errors.ValueNotDurableError("", { path: ["at", 0] }))).toMatchObject({ path: ["at", 0] });
  expect(cross(new errors.ChangesTrimmedError("", { oldest: 7 }))).toMatchObject({ oldest: 7 });
  expect(cross(new errors.StorageUnavailableError("", { reason: "busy" }))).toMatchObject({ reason: "busy" });
});

test("stores Errors: what is none of ours, or of a later build, arrives as unexpected and keeps its words", () => {
  expect(cross(new TypeError("x is not a function"))).toMatchObject({
    code: "unexpected",
    message: "x is not a function",
    cause: { name: "TypeError" },
  });
  expect(cross("thrown text")).toMatchObject({ code: "unexpected", message: "thrown text" });
  const later = errors.fromWire({ code: "not-invented-yet", message: "Later.", details: {} });
  expect(later).toBeInstanceOf(errors.WakefulError);
  expect(later.message).toBe("Later.");
});
