/** What callbacks and schemas may do, and what is never shared with them (stores 3, 15, 16, 17). */
import { expect } from "vitest";
import { defineStore } from "../../src/define-store.js";
import { DraftMisuseError, ValidationFailedError } from "../../src/protocol/errors.js";
import { type Board, Boards, boardsNamed, emptyBoard, expectRefused, openClient, schemaOf } from "./client.js";
import type { ConformanceCase } from "./conformance-case.js";

const address = { definition: Boards, id: "a" };
const increment = (draft: { count: number }): void => void (draft.count += 1);

/** What a program without types, or one with a mistake, can hand over. */
const wrong = (callback: unknown): never => callback as never;

export const callbackCases: readonly ConformanceCase[] = [
  {
    name: "stores 3: a promise from an updater, selector, claim or `initial` is refused, and nothing is committed",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.getStore(address);
      const later = wrong(async () => undefined);
      // oxlint-disable-next-line unicorn/no-thenable -- that it is one is the point.
      const thenable = Object.fromEntries([["then", () => undefined]]);
      const refuse = (call: () => Promise<unknown>): Promise<Error> => expectRefused(connector, DraftMisuseError, call);
      await refuse(() => client.updateStore({ ...address, updater: later }));
      await refuse(() => client.updateStore({ ...address, updater: wrong(() => thenable) }));
      await refuse(() => client.takeFromStore({ ...address, selector: later, claim: () => undefined }));
      await refuse(() => client.takeFromStore({ ...address, selector: () => true, claim: later }));
      await refuse(() => client.transactStores({ stores: { a: address }, updater: later }));
      await refuse(() => client.getStore({ definition: boardsNamed("late", later), id: "a" }));
      await refuse(() => client.store(Boards, "a").when(later));
    },
  },
  {
    name: "stores 15: what is returned and what was passed in can be edited without effect",
    run: async (database) => {
      const { client } = await openClient(database);
      const item = { id: "one", done: false };
      const written = await client.updateStore({ ...address, updater: (draft) => void draft.items.push(item) });
      item.id = "edited outside";
      Object.assign(written.state.items[0] ?? {}, { id: "edited result" });
      const read = await client.getStore(address);
      expect(read.state.items).toEqual([{ id: "one", done: false }]);
      Object.assign(read.state.items[0] ?? {}, { id: "edited reading" });
      const peeked = client.store(Boards, "a").peek();
      Object.assign(peeked?.state.items[0] ?? {}, { id: "edited peek" });
      const found = await client.store(Boards, "a").when((board) => board.items[0]);
      Object.assign(found, { id: "edited selection" });
      expect((await client.getStore(address)).state.items).toEqual([{ id: "one", done: false }]);
    },
  },
  {
    name: "stores 15: a draft used after its updater returned throws",
    run: async (database) => {
      const { client } = await openClient(database);
      let kept: { count: number } | undefined;
      await client.updateStore({
        ...address,
        updater: (draft) => {
          kept = draft;
          draft.count = 1;
        },
      });
      expect(() => {
        if (kept !== undefined) kept.count = 2;
      }).toThrow(DraftMisuseError);
      expect(await client.getStore(address)).toMatchObject({ state: { count: 1 }, version: 1 });
    },
  },
  {
    name: "stores 16: an updater edits the draft, or returns a replacement, or returns the draft itself",
    run: async (database) => {
      const { client } = await openClient(database);
      const counts = async (updater: unknown): Promise<number> =>
        (await client.updateStore({ ...address, updater: wrong(updater) })).state.count;
      expect(await counts((draft: { count: number }) => void (draft.count = 1))).toBe(1);
      expect(await counts(() => ({ ...emptyBoard, count: 2 }))).toBe(2);
      expect(await counts((draft: { count: number }) => Object.assign(draft, { count: 3 }))).toBe(3);
      expect(await counts((draft: Board) => ({ ...draft, count: draft.count + 1 }))).toBe(4);
    },
  },
  {
    name: "stores 16: editing and replacing at once, or returning a number for an object, is a typed error",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.getStore(address);
      type Draft = { count: number; items: unknown[] };
      for (const updater of [
        (draft: Draft) => draft.items.push({ id: "x", done: false }),
        (draft: Draft) => {
          draft.count = 1;
          return { ...emptyBoard, count: 2 };
        },
        () => 7,
        () => null,
        () => "text",
      ]) {
        await expectRefused(connector, DraftMisuseError, () =>
          client.updateStore({ ...address, updater: wrong(updater) }),
        );
      }
    },
  },
  {
    name: "stores 17: what the schema puts out is stored, it is asked once for each commit, and not when reading",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      let asked = 0;
      const definition = defineStore(
        "trimmed",
        schemaOf<{ text: string }>((value) => {
          asked += 1;
          return { value: { text: String((value as { text: unknown }).text).trim() } };
        }),
        { initial: () => ({ text: "" }) },
      );
      const trimmed = { definition, id: "a" };
      await client.getStore(trimmed);
      asked = 0;
      const written = await client.updateStore({ ...trimmed, updater: () => ({ text: "  padded " }) });
      expect(asked).toBe(1);
      expect(written.state).toEqual({ text: "padded" });
      const { snapshot } = await connector.readStore({ storeName: "trimmed", storeId: "a" });
      expect(snapshot?.state).toBe('{"text":"padded"}');
      expect((await client.getStore(trimmed)).state).toEqual({ text: "padded" });
      expect(asked).toBe(1);
    },
  },
  {
    name: "stores 17: a schema may answer later, by a promise",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const late = schemaOf<{ count: number }>(async (value) => {
        const { count } = value as { count: number };
        await Promise.resolve();
        return count < 10 ? { value: { count } } : { issues: [{ message: "Too many.", path: [] }] };
      });
      const counter = { definition: defineStore("late", late, { initial: () => ({ count: 0 }) }), id: "a" };
      for (let times = 0; times < 9; times++) await client.updateStore({ ...counter, updater: increment });
      await expectRefused(connector, ValidationFailedError, () =>
        client.updateStore({ ...counter, updater: increment }),
      );
      expect(await client.getStore(counter)).toMatchObject({ state: { count: 9 }, version: 9 });
    },
  },
];
