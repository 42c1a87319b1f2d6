/** What the app opens its stores with: build.mjs puts the workers beside main.js. */
import type { OpenStoresOptions } from "wakeful";

export const options: OpenStoresOptions = {
  name: "notes",
  workerUrl: new URL("worker.js", import.meta.url),
  brokerUrl: new URL("broker.js", import.meta.url),
};
