/** The examples of a README: its blocks of TypeScript, one after the other, as one program. */
export function examplesOf(markdown: string): string;
