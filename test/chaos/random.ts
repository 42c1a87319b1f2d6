/** Random numbers that a seed repeats (mulberry32). */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** An integer in [from, to]. */
  between(from: number, to: number): number;
  pick<T>(from: readonly T[]): T;
  /** One of the keys, as often as its weight says. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick<T>(from: readonly T[]): T {
      const chosen = from[Math.floor(next() * from.length)];
      if (chosen === undefined) throw new Error("There is nothing to pick from.");
      return chosen;
    },
    weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
      const entries = Object.entries<number>(weights);
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        // The keys of `weights`, which is all that Object.entries gives.
        if (left < 0) return key as Key;
      }
      throw new Error("There is no weight.");
    },
  };
}
