import { openMemoryDatabase } from "../../support/memory-connector.js";
import { describeStoreConnector } from "../index.js";

describeStoreConnector(
  "the in-memory connector",
  async (options) => {
    const database = openMemoryDatabase(options);
    return {
      connect: async () => database.connect(),
      restart: async () => database.restart(),
      close: () => database.close(),
    };
  },
  { peers: true, restart: true, durable: true, changesLimit: true },
);
