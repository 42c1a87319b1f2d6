import { vi } from "vitest";
import { openConnection, type WorkerConnector } from "../../src/connection/open-connection.js";
import { ownerLock } from "../../src/protocol/wire.js";
import { describeStoreConnector } from "../conformance/index.js";

/** How many workers own the database or wait to own it. */
async function contenders(name: string): Promise<number> {
  const { held = [], pending = [] } = await navigator.locks.query();
  return [...held, ...pending].filter((lock) => lock.name === ownerLock(name)).length;
}

// A real worker on real OPFS.
for (const transport of ["port", "broadcast"] as const) {
  describeStoreConnector(
    `tabs 22: the worker by ${transport}`,
    async ({ changesLimit, restarts = 0 }) => {
      const name = `conformance-${crypto.randomUUID()}`;
      const sessions = new Set<WorkerConnector>();
      const owners: WorkerConnector[] = [];
      const connect = async (): Promise<WorkerConnector> => {
        // Patient, since 16 MB take their time on a machine that has much else to do.
        const patient = { name, transport, ownerTimeout: 45_000 };
        const options = changesLimit === undefined ? patient : { ...patient, changesLimit };
        const session = await openConnection(options);
        sessions.add(session);
        return session;
      };
      // The next owner is the worker that has waited longest: one for each restart is there before the case's sessions.
      while (owners.length < restarts) {
        owners.push(await connect());
        await vi.waitUntil(async () => (await contenders(name)) === owners.length, { timeout: 30_000 });
      }
      return {
        connect,
        restart: async () => {
          const leaving = owners.shift();
          if (leaving === undefined) throw new Error("The case restarts more often than it said.");
          await leaving.close();
          sessions.delete(leaving);
          // A reading that the old owner did not answer goes on at the next one.
          const staying = [...sessions];
          await Promise.all(staying.map((session) => session.readStore({ storeName: "any", storeId: "any" })));
        },
        close: async () => {
          await Promise.all([...sessions].map((session) => session.close()));
        },
      };
    },
    { peers: true, restart: true, durable: true, changesLimit: true },
  );
}
