/** The part of contract.mjs that tests use. */
export function checkContract(
  files: ReadonlyMap<string, string>,
  later?: Readonly<Record<"stores" | "tabs", readonly number[]>>,
): {
  readonly claims: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
};
