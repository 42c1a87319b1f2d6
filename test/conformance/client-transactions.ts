/** Several stores in one commit (stores 18). */
import { expect } from "vitest";
import { DraftMisuseError, InvalidArgumentError } from "../../src/protocol/errors.js";
import { type Board, Boards, emptyBoard, expectRefused, openClient } from "./client.js";
import type { ConformanceCase } from "./conformance-case.js";

const a = { definition: Boards, id: "a" };
const b = { definition: Boards, id: "b" };

const setCount =
  (count: number) =>
  (draft: { count: number }): void =>
    void (draft.count = count);

export const transactionCases: readonly ConformanceCase[] = [
  {
    name: "stores 18: a transaction edits several drafts in one commit, and creates what is missing",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.updateStore({ ...a, updater: setCount(10) });
      const written = await client.transactStores({
        stores: { from: a, to: b },
        updater: ({ from, to }) => {
          from.count -= 4;
          to.count += 4;
        },
      });
      expect(written).toEqual({
        from: { state: { ...emptyBoard, count: 6 }, previousVersion: 1, version: 2 },
        to: { state: { ...emptyBoard, count: 4 }, previousVersion: 0, version: 1 },
      });
      const feed = await connector.readChanges({ after: 1, limit: 10 });
      expect(feed).toMatchObject({
        head: 2,
        changes: [
          { sequence: 2, position: 0 },
          { sequence: 2, position: 1 },
        ],
      });
    },
  },
  {
    name: "stores 18: transactions that race keep the sum of what they move",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([openClient(database), openClient(database)]);
      await peers[0].client.updateStore({ ...a, updater: setCount(100) });
      await Promise.all(
        peers.flatMap(({ client }, index) =>
          Array.from({ length: 10 }, (_, amount) =>
            client.transactStores({
              stores: index === 0 ? { from: a, to: b } : { to: b, from: a },
              updater: ({ from, to }) => {
                from.count -= amount;
                to.count += amount;
              },
            }),
          ),
        ),
      );
      const counts = await Promise.all(
        [a, b].map(async (store) => (await peers[1].client.getStore(store)).state.count),
      );
      expect(counts).toEqual([10, 90]);
    },
  },
  {
    name: "stores 18: a transaction that fails on one store writes none, and one without stores or with one twice is refused",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.getStore(a);
      const transact = (stores: Record<string, typeof a>, updater: (drafts: never) => unknown) => () =>
        client.transactStores({ stores, updater: updater as never }); // Some of them are mistakes that do not compile.
      const failing = ({ a: one, b: other }: { a: Board; b: Board }): void => {
        Object.assign(one, { count: 5 });
        Object.assign(other, { count: -5 });
      };
      await expectRefused(connector, Error, transact({ a, b }, failing));
      await expectRefused(
        connector,
        DraftMisuseError,
        transact({ a, b }, () => 7),
      );
      await expectRefused(
        connector,
        DraftMisuseError,
        transact({ a }, (drafts) => void Object.assign(drafts, { z: {} })),
      );
      await expectRefused(
        connector,
        InvalidArgumentError,
        transact({}, () => undefined),
      );
      await expectRefused(
        connector,
        InvalidArgumentError,
        transact({ one: a, again: a }, () => undefined),
      );
    },
  },
];
