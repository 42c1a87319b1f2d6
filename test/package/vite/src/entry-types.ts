/** Compiled and never run: what the package's other entries declare does not need what only their users have. */
import type { describeStoreConnector, OpenConformanceDatabase } from "wakeful/conformance";
import type { openTestStores } from "wakeful/testing";

export const parameters = (open: OpenConformanceDatabase): Parameters<typeof describeStoreConnector> => [
  "my connector",
  open,
  { peers: true, restart: true, durable: true, changesLimit: true },
];

export const advance = ({ clock }: ReturnType<typeof openTestStores>): void => clock.advance(1000);
