import { openConnection, type WorkerConnector } from "../../src/connection/open-connection.js";
import { describeStoreConnector } from "../conformance/index.js";

// A real worker on real OPFS.
for (const transport of ["port", "broadcast"] as const) {
  describeStoreConnector(
    `tabs 22: the worker by ${transport}`,
    async ({ changesLimit, restarts = 0 }) => {
      const name = `conformance-${crypto.randomUUID()}`;
      const sessions = new Set<WorkerConnector>();
      const owners: WorkerConnector[] = [];
      const connect = async (): Promise<WorkerConnector> => {
        const options = changesLimit === undefined ? { name, transport } : { name, transport, changesLimit };
        const session = await openConnection(options);
        sessions.add(session);
        return session;
      };
      // The owner is the worker that came first: one for each restart is there before the sessions of the case.
      for (let owner = 0; owner < restarts; owner++) owners.push(await connect());
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
