/** Stores that tests use. */
import { z } from "zod";
import { defineStore } from "../../src/define-store.js";

/** A list to take from, with a number and a text beside it. */
export const Board = defineStore(
  "board",
  z.object({
    count: z.number(),
    title: z.string(),
    jobs: z.array(z.object({ id: z.string(), done: z.boolean() })),
  }),
  { initial: () => ({ count: 0, title: "", jobs: [] }) },
);

export const Counter = defineStore("counter", z.object({ n: z.number() }), { initial: () => ({ n: 0 }) });

/** Its schema answers by a promise. */
export const AsyncCounter = defineStore(
  "async-counter",
  z.object({ n: z.number().refine(async (n) => n >= 0, "below zero") }),
  { initial: () => ({ n: 0 }) },
);
