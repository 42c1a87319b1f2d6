import { expect, test } from "vitest";
import { InvalidArgumentError, StorageUnavailableError } from "../../src/protocol/errors.js";
import { failure } from "../support/failure.js";

test("tabs 20: importing the library on a server does nothing, and opening stores there is a typed error", async () => {
  const before = new Set(Object.getOwnPropertyNames(globalThis));
  const { openStores } = await import("../../src/index.js");
  expect(Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name))).toEqual([]);
  for (const fallback of [{}, { fallback: "memory" } as const]) {
    const error = await failure(openStores({ name: "on a server", ...fallback }));
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error).toMatchObject({ code: "storage-unavailable", reason: "unsupported" });
  }
});

test("tabs 24: a database needs a name that can be one", async () => {
  const { openStores } = await import("../../src/index.js");
  for (const name of ["", "x".repeat(1025), undefined as unknown as string]) {
    await expect(openStores({ name })).rejects.toThrow(InvalidArgumentError);
  }
  await expect(openStores(undefined as unknown as { name: string })).rejects.toThrow(InvalidArgumentError);
});
