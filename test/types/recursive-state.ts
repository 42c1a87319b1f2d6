import type { DeepReadonly, Draft } from "../../src/durable-type.js";
import { type Equal, typeTest } from "./type-test.js";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface Tree {
  name: string;
  children: Tree[];
}

declare function change<State>(state: State, updater: (draft: Draft<State>) => void): void;
declare function select<State, R>(state: State, selector: (state: DeepReadonly<State>) => R): R;

typeTest("stores 32: a state that holds itself, as JSON and trees do, has drafts and read-only views", () => {
  change<Json>(null, (draft) => {
    if (Array.isArray(draft)) draft.push(1);
  });
  change<Tree>({ name: "", children: [] }, (draft) => {
    draft.children[0]?.children.push(draft);
  });
  const tree: Tree = { name: "", children: [] };
  select(tree, (view) => {
    // @ts-expect-error a view can only be read
    view.children[0]?.children.push(tree);
    return view.children.length;
  });
});

typeTest("stores 32: lists and tuples stay what they are, writable in drafts and read-only in views", () => {
  interface State {
    readonly pair: readonly [number, "a" | "b"];
    readonly list: readonly { readonly id: number }[];
  }
  const isDraft: Equal<Draft<State>, { pair: [number, "a" | "b"]; list: { id: number }[] }> = true;
  const isView: Equal<DeepReadonly<{ pair: [number, "a" | "b"]; list: { id: number }[] }>, State> = true;
  return [isDraft, isView];
});
