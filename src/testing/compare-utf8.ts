/** UTF-8 orders as code points do, which differs from the order of UTF-16 units past U+FFFF. */
export function compareUtf8(left: string, right: string): number {
  const rights = [...right];
  const lefts = [...left];
  for (const [index, character] of lefts.entries()) {
    const other = rights[index];
    if (other === undefined) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return lefts.length - rights.length;
}
