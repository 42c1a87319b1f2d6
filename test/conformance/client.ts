/** A client over the connector under test, and the definitions that client cases use. */
import { expect, vi } from "vitest";
import { defineStore, type StoreDefinition } from "../../src/define-store.js";
import type { StoreConnector } from "../../src/protocol/connector.js";
import { createStores, type Stores } from "../../src/stores.js";
import type { ConformanceDatabase } from "./conformance-case.js";
import { PATIENCE_MS } from "./event-log.js";
import { errorOf } from "./requests.js";

export interface Item {
  readonly id: string;
  readonly done: boolean;
}

/** A state with a number, a list and a record, which is enough to look at. */
export interface Board {
  readonly count: number;
  readonly items: readonly Item[];
  readonly users: Readonly<Record<string, { readonly name: string; readonly age: number }>>;
}

type Schema<State> = StoreDefinition<State>["schema"];
type Issue = { readonly message: string; readonly path: readonly PropertyKey[] };

type Checked<State> = { readonly value: State } | { readonly issues: readonly Issue[] };

/** A Standard Schema by hand: `check` answers the output, or what is wrong. */
export function schemaOf<State>(check: (value: unknown) => Checked<State> | Promise<Checked<State>>): Schema<State> {
  return { "~standard": { version: 1, vendor: "wakeful-conformance", validate: check } };
}

/** Refuses a `count` below zero. */
export const boardSchema: Schema<Board> = schemaOf((value) => {
  const board = value as Board; // The cases write nothing else but boards, except for the count.
  return typeof board.count === "number" && board.count >= 0
    ? { value: board }
    : { issues: [{ message: "The count must not be negative.", path: ["count"] }] };
});

export const emptyBoard: Board = { count: 0, items: [], users: {} };

export const Boards: StoreDefinition<Board> = defineStore("board", boardSchema, { initial: () => emptyBoard });

/** Another definition over the same kind of state. */
export function boardsNamed(name: string, initial: (id: string) => Board = () => emptyBoard): StoreDefinition<Board> {
  return defineStore(name, boardSchema, { initial });
}

export interface TestClient {
  readonly client: Stores;
  readonly connector: StoreConnector;
}

/** A client on a session of its own. `change` puts something between the two. */
export async function openClient(
  database: ConformanceDatabase,
  change: (connector: StoreConnector) => Partial<StoreConnector> = () => ({}),
): Promise<TestClient> {
  const session = await database.connect();
  const connector = { ...session, ...change(session) };
  return { client: createStores(connector), connector };
}

/** Waits until `check` no longer throws. */
export async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: PATIENCE_MS, interval: 5 });
}

/** The sequence of the newest commit. */
export async function head(connector: StoreConnector): Promise<number> {
  return (await connector.readStore({ storeName: "any", storeId: "any" })).sequence;
}

/** Runs `call` and checks that it rejects with `type`, and that nothing whatsoever was written. */
export async function expectRefused<E extends Error>(
  connector: StoreConnector,
  type: new (message: string) => E,
  call: () => Promise<unknown>,
): Promise<E> {
  const before = await head(connector);
  const error = await errorOf(call());
  expect(await head(connector)).toBe(before);
  expect(await connector.readWakes({ limit: 100, claim: false })).toEqual([]);
  if (error instanceof type) return error;
  throw new Error(`The call must reject with ${type.name}, but rejected with ${String(error)}`, { cause: error });
}
