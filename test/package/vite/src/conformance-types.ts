/** Compiled and never run: the suite's types do not need Vitest to be installed. */
import type { describeStoreConnector, OpenConformanceDatabase } from "wakeful/conformance";

export const parameters = (open: OpenConformanceDatabase): Parameters<typeof describeStoreConnector> => [
  "my connector",
  open,
  { peers: true, restart: true, durable: true, changesLimit: true },
];
