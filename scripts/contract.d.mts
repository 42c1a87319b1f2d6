/** The part of contract.mjs that tests use. */
export function checkContract(files: ReadonlyMap<string, string>): {
  readonly claims: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
};
