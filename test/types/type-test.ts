/** What type tests are written with. A type test passes when it compiles; its body is never run. */
import type { StoreDefinition } from "../../src/define-store.js";

/** `true` when the two types are the same one, and not merely assignable. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- T is what the two functions are compared by
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export type StateOf<Definition> = Definition extends StoreDefinition<infer State> ? State : never;

/** Names a type test. */
export function typeTest(_name: string, _body: () => unknown): void {}
