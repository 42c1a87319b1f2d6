/** The examples of a README: its blocks of TypeScript, one after the other, as one program. */
export function examplesOf(markdown) {
  const blocks = [...markdown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
  if (blocks.length === 0) throw new Error("The README has no examples");
  return blocks.join("\n");
}
