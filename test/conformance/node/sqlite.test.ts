import { openNodeDatabase } from "../../support/node-sqlite.js";
import { describeStoreConnector } from "../index.js";

describeStoreConnector(
  "the SQLite connector in Node",
  async (options) => {
    const database = await openNodeDatabase(options);
    return {
      connect: async () => database.connect(),
      restart: async () => database.restart(),
      close: async () => database.close(),
    };
  },
  { peers: true, restart: true, durable: true, changesLimit: true },
);
