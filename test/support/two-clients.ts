/** Two clients of one database, of which one has its clock in the hands of the test. */
import { afterEach, beforeEach } from "vitest";
import type { StoreHandle } from "../../src/store-client.js";
import { createStores, type Stores } from "../../src/stores.js";
import { Board, Counter } from "./definitions.js";
import { type ManualScheduler, manualScheduler } from "./manual-scheduler.js";
import { openProbedDatabase, type ProbedDatabase } from "./probed-database.js";

export type BoardHandle = StoreHandle<{ count: number; title: string; jobs: { id: string; done: boolean }[] }>;

export interface TwoClients {
  database: ProbedDatabase;
  clock: ManualScheduler;
  /** Of session "mine", on `clock`. */
  mine: Stores;
  /** Of session "theirs". */
  theirs: Stores;
  /** The same store at `mine` and at `theirs`. */
  board: BoardHandle;
  elsewhere: BoardHandle;
  /** Resolves once `mine` has heard of everything committed so far. */
  readonly heard: () => Promise<void>;
}

/** New ones for each test, closed after it. */
export function useTwoClients(): () => TwoClients {
  let clients: TwoClients;
  beforeEach(() => {
    const database = openProbedDatabase();
    const clock = manualScheduler();
    const mine = createStores(database.connect("mine"), { clock });
    const theirs = createStores(database.connect("theirs"));
    let fences = 0;
    async function heard(): Promise<void> {
      const fence = `fence ${++fences}`;
      const arrived = new Promise<void>((resolve) => {
        const stop = mine.on("commit", ({ changes }) => {
          if (!changes.some(({ storeId }) => storeId === fence)) return;
          stop();
          resolve();
        });
      });
      await theirs.store(Counter, fence).get();
      await arrived;
    }
    clients = {
      database,
      clock,
      mine,
      theirs,
      board: mine.store(Board, "x"),
      elsewhere: theirs.store(Board, "x"),
      heard,
    };
  });
  afterEach(() => Promise.all([clients.mine.close(), clients.theirs.close()]));
  return () => clients;
}
