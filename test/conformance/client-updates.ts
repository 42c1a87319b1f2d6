/** How a client updates: retries, snapshots, refusals (stores 4, 6, 14). */
import { expect } from "vitest";
import {
  AbortedError,
  InvalidArgumentError,
  StoreChangedTooOftenError,
  ValidationFailedError,
  ValueNotDurableError,
} from "../../src/protocol/errors.js";
import { type Board, Boards, boardsNamed, emptyBoard, expectRefused, openClient } from "./client.js";
import type { ConformanceCase } from "./conformance-case.js";
import { errorOf } from "./requests.js";

const address = { definition: Boards, id: "a" };
const increment = (draft: { count: number }): void => void (draft.count += 1);

/** What a program without types, or one with a mistake, can hand over. */
const wrong = (callback: unknown): never => callback as never;

export const updateCases: readonly ConformanceCase[] = [
  {
    name: "stores 4: updates that race all count: each runs again on the newer state",
    needs: ["peers"],
    run: async (database) => {
      const peers = await Promise.all([openClient(database), openClient(database), openClient(database)]);
      const versions = await Promise.all(
        peers.flatMap(({ client }) =>
          Array.from({ length: 10 }, async () => {
            const { previousVersion, version, state } = await client.updateStore({ ...address, updater: increment });
            expect(version).toBe(previousVersion + 1);
            expect(state.count).toBe(version);
            return version;
          }),
        ),
      );
      expect(versions.sort((one, other) => one - other)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    },
  },
  {
    name: "stores 4: after 100 lost races in a row an update gives up with a typed error, and has committed nothing",
    run: async (database) => {
      const rival = await openClient(database);
      const { client } = await openClient(database, (connector) => ({
        commit: async (request, options) => {
          await rival.client.updateStore({ ...address, updater: increment });
          return connector.commit(request, options);
        },
      }));
      let runs = 0;
      const updater = (draft: { count: number }): void => {
        runs += 1;
        draft.count = 1_000_000;
      };
      expect(await errorOf(client.updateStore({ ...address, updater }))).toBeInstanceOf(StoreChangedTooOftenError);
      expect(runs).toBe(100);
      expect(await rival.client.getStore(address)).toMatchObject({ state: { count: 100 }, version: 100 });
    },
    needs: ["peers"],
  },
  {
    name: "stores 4: an abort before the commit is sent ends the call, and one after it leaves the outcome as it is",
    run: async (database) => {
      const sent = new AbortController();
      const { client, connector } = await openClient(database, (session) => ({
        commit: async (request, options) => {
          const outcome = await session.commit(request, options);
          sent.abort();
          return outcome;
        },
      }));
      const reason = new Error("enough");
      const inTime = new AbortController();
      const error = await expectRefused(connector, AbortedError, () =>
        client.updateStore({ ...address, signal: inTime.signal, updater: (_) => inTime.abort(reason) }),
      );
      expect(error.cause).toBe(reason);
      const early = AbortSignal.abort();
      let runs = 0;
      await expectRefused(connector, AbortedError, () =>
        client.updateStore({ ...address, signal: early, updater: (_) => void (runs += 1) }),
      );
      expect(runs).toBe(0);
      const late = await client.updateStore({ ...address, signal: sent.signal, updater: increment });
      expect(late).toMatchObject({ version: 1 });
    },
  },
  {
    name: "stores 6: updateFrom writes on the version of the snapshot, and returns a conflict without running again",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const snapshot = await client.getStore(address);
      const written = await client.updateStoreFrom({ ...address, snapshot, updater: increment });
      expect(written).toEqual({ updated: true, state: { ...emptyBoard, count: 1 }, previousVersion: 0, version: 1 });
      let runs = 0;
      const stepId = { executionId: "E", stepKey: "step" };
      const updater = (): void => void (runs += 1);
      const { instanceId } = snapshot;
      expect(await client.updateStoreFrom({ ...address, snapshot, updater, stepId })).toEqual({
        updated: false,
        expectedInstanceId: instanceId,
        actualInstanceId: instanceId,
        expectedVersion: 0,
        actualVersion: 1,
      });
      expect(runs).toBe(0);
      const receipt = await connector.getAppliedStoreStep({ storeName: "board", storeId: "a", ...stepId });
      expect(receipt).toEqual({ status: "not-applied" });
    },
  },
  {
    name: "stores 6: updateFrom runs on the stored state: what a caller does to its snapshot does not leak",
    run: async (database) => {
      const { client } = await openClient(database);
      const snapshot = await client.getStore(address);
      Object.assign(snapshot.state, { count: 500, items: [{ id: "leak", done: true }] });
      const written = await client.updateStoreFrom({ ...address, snapshot, updater: increment });
      expect(written).toMatchObject({ state: { count: 1, items: [] } });
    },
  },
  {
    name: "stores 6: a snapshot without an instance id throws, unless a receipt answers first",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      const snapshot = await client.getStore(address);
      const stepId = { executionId: "E", stepKey: "step" };
      const first = await client.updateStoreFrom({ ...address, snapshot, updater: increment, stepId });
      for (const damaged of [wrong({}), wrong(undefined), wrong({ instanceId: null, version: null })]) {
        await expectRefused(connector, InvalidArgumentError, () =>
          client.updateStoreFrom({ ...address, snapshot: damaged, updater: increment }),
        );
        await expectRefused(connector, InvalidArgumentError, () =>
          client.deleteStoreFrom({ ...address, snapshot: damaged }),
        );
        expect(await client.updateStoreFrom({ ...address, snapshot: damaged, updater: increment, stepId })).toEqual(
          first,
        );
      }
    },
  },
  {
    name: "stores 14: a refused state, a value that is not durable or a callback that throws changes nothing",
    run: async (database) => {
      const { client, connector } = await openClient(database);
      await client.getStore(address);
      const thrown = new RangeError("no");
      const throwing = (): never => {
        throw thrown;
      };
      const stepId = { executionId: "E", stepKey: "step" };
      const update = (updater: unknown) => () => client.updateStore({ ...address, updater: wrong(updater), stepId });
      const invalid = await expectRefused(
        connector,
        ValidationFailedError,
        update((draft: Board) => ({ ...draft, count: -1 })),
      );
      expect(invalid.issues).toEqual([{ message: "The count must not be negative.", path: ["count"] }]);
      const lossy = await expectRefused(
        connector,
        ValueNotDurableError,
        update(() => ({ ...emptyBoard, users: { at: new Date() } })),
      );
      expect(lossy.path).toEqual(["users", "at"]);
      expect(await errorOf(update(throwing)())).toBe(thrown);
      expect(await errorOf(client.takeFromStore({ ...address, selector: throwing, claim: throwing, stepId }))).toBe(
        thrown,
      );
      expect(await errorOf(client.takeFromStore({ ...address, selector: () => 1, claim: throwing, stepId }))).toBe(
        thrown,
      );
      expect(await errorOf(client.getStore({ definition: boardsNamed("throws", throwing), id: "a" }))).toBe(thrown);
      const receipt = await connector.getAppliedStoreStep({ storeName: "board", storeId: "a", ...stepId });
      expect(receipt).toEqual({ status: "not-applied" });
      expect(await client.getStore(address)).toMatchObject({ state: emptyBoard, version: 0 });
    },
  },
];
