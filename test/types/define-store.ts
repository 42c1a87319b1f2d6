/** stores 32: the types of a definition come from the schema alone. Compiled, never run. */
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { defineStore, type StoreDefinition } from "../../src/define-store.js";
import type { NotDurable } from "../../src/durable-type.js";
import { type Equal, type StateOf, typeTest } from "./type-test.js";

typeTest("stores 32: the state is the schema's output, whichever library the schema is of", () => {
  const zod = defineStore("zod", z.object({ n: z.number().default(0), tags: z.array(z.string()).optional() }), {
    initial: () => ({ n: 0 }),
  });
  const zodState: Equal<StateOf<typeof zod>, { n: number; tags?: string[] | undefined }> = true;

  const valibot = defineStore("valibot", v.object({ n: v.optional(v.number(), 0), who: v.nullable(v.string()) }), {
    initial: () => ({ n: 0, who: null }),
  });
  const valibotState: Equal<StateOf<typeof valibot>, { n: number; who: string | null }> = true;

  const ark = defineStore("ark", type({ n: "number", "tags?": "string[]", status: "'idle' | 'busy'" }), {
    initial: () => ({ n: 0, status: "idle" }),
  });
  const arkState: Equal<StateOf<typeof ark>, { n: number; tags?: string[]; status: "idle" | "busy" }> = true;
  return [zodState, valibotState, arkState];
});

typeTest("stores 32: a schema that transforms counts by its output, not by its input", () => {
  const store = defineStore("lengths", z.object({ text: z.string().transform((text) => text.length) }), {
    initial: () => ({ text: 0 }),
  });
  const state: Equal<StateOf<typeof store>, { text: number }> = true;
  return state;
});

typeTest("stores 32: `initial` is checked against the state and keeps literal types", () => {
  const schema = z.object({ status: z.enum(["idle", "busy"]), jobs: z.array(z.object({ kind: z.literal("a") })) });
  defineStore("literals", schema, { initial: () => ({ status: "idle", jobs: [{ kind: "a" }] }) });
  // @ts-expect-error "bsy" is no status
  defineStore("literals", schema, { initial: () => ({ status: "bsy", jobs: [] }) });
  // @ts-expect-error jobs is missing
  defineStore("literals", schema, { initial: () => ({ status: "idle" }) });
  // @ts-expect-error `initial` is missing
  defineStore("literals", schema, {});
  // @ts-expect-error `initial` is synchronous
  defineStore("literals", schema, { initial: async () => ({ status: "idle", jobs: [] }) });
});

typeTest("stores 32: what JSON cannot hold does not compile, with Zod", () => {
  // @ts-expect-error Date
  defineStore("bad", z.object({ at: z.date() }), { initial: () => ({ at: new Date() }) });
  // @ts-expect-error Map
  defineStore("bad", z.object({ m: z.map(z.string(), z.number()) }), { initial: () => ({ m: new Map() }) });
  // @ts-expect-error Set
  defineStore("bad", z.array(z.set(z.string())), { initial: () => [] });
  // @ts-expect-error bigint
  defineStore("bad", z.object({ deep: z.object({ n: z.bigint() }) }), { initial: () => ({ deep: { n: 1n } }) });
  // @ts-expect-error symbol
  defineStore("bad", z.object({ s: z.symbol() }), { initial: () => ({ s: Symbol() }) });
  // @ts-expect-error undefined that is not an absent key
  defineStore("bad", z.object({ u: z.array(z.string().optional()) }), { initial: () => ({ u: [] }) });
  // @ts-expect-error a function
  defineStore("bad", z.custom<{ f: () => void }>(), { initial: () => ({ f: () => {} }) });
  // @ts-expect-error a class instance with methods
  defineStore("bad", z.instanceof(URL), { initial: () => new URL("https://example.org") });
  // @ts-expect-error typed arrays
  defineStore("bad", z.instanceof(Uint8Array), { initial: () => new Uint8Array() });
  // @ts-expect-error unknown says nothing
  defineStore("bad", z.object({ u: z.unknown() }), { initial: () => ({ u: 1 }) });
});

typeTest("stores 32: what JSON cannot hold does not compile, with Valibot and ArkType", () => {
  // @ts-expect-error Date
  defineStore("bad", v.object({ at: v.date() }), { initial: () => ({ at: new Date() }) });
  // @ts-expect-error Map in a union
  defineStore("bad", v.union([v.string(), v.map(v.string(), v.string())]), { initial: () => "" });
  // @ts-expect-error Date
  defineStore("bad", type({ at: "Date" }), { initial: () => ({ at: new Date() }) });
  // @ts-expect-error bigint
  defineStore("bad", type({ n: "bigint" }), { initial: () => ({ n: 1n }) });
});

typeTest("stores 32: the refusal names the place and the reason", () => {
  const date: Equal<
    NotDurable<{ items: { at: Date }[] }>,
    "items.[number].at is a Date: use an ISO string, or milliseconds"
  > = true;
  const union: Equal<NotDurable<{ id: string | bigint }>, "id is a bigint: use a string"> = true;
  const root: Equal<NotDurable<Map<string, string>>, "The state is a Map: use an object"> = true;
  const tuple: Equal<NotDurable<{ pair: [string, symbol] }>, "pair.1 is a symbol: use a string"> = true;
  const nothing: Equal<NotDurable<unknown>, "The state is unknown: say what it is"> = true;
  return [date, union, root, tuple, nothing];
});

interface Tree {
  name: string;
  children: Tree[];
}

typeTest("stores 32: recursive, branded, read-only and optional outputs are durable", () => {
  type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
  const good: Equal<
    [
      NotDurable<Tree>,
      NotDurable<Json>,
      NotDurable<{ a?: string; b?: number | undefined }>,
      NotDurable<readonly [string, number]>,
      NotDurable<Record<string, null>>,
      // oxlint-disable-next-line typescript/no-explicit-any -- what a schema of "anything" has; its values are checked when written
      NotDurable<any>,
    ],
    [never, never, never, never, never, never]
  > = true;

  const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
  defineStore("tree", tree, { initial: () => ({ name: "", children: [] }) });
  defineStore("json", z.json(), { initial: () => ({}) });
  defineStore("any", z.any(), { initial: () => 1 });
  const Id = z.string().brand("Id");
  defineStore("branded", z.object({ id: Id }), { initial: () => ({ id: Id.parse("x") }) });
  defineStore("record", z.record(z.string(), z.object({ n: z.number() }).readonly()), { initial: () => ({}) });
  defineStore("ark", type({ "a?": "string", b: ["string", "number"] }), { initial: () => ({ b: ["", 0] }) });
  return good;
});

typeTest("stores 32: a function over any store infers the state from the definition", () => {
  const store = defineStore("zod", z.object({ n: z.number() }), { initial: () => ({ n: 0 }) });
  const initialOf = <State>(definition: StoreDefinition<State>) => definition.initial("x");
  const initial: { readonly n: number } = initialOf(store);
  return initial;
});
