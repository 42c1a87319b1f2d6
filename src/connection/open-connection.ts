/**
 * Opens a session on a database and presents it as a StoreConnector. No policy of its own: which worker answers is
 * decided in connection.ts.
 */
import type {
  AppliedStep,
  CallOptions,
  ChangesReading,
  CommitOutcome,
  StoreConnector,
  StoreReading,
  WaiterOutcome,
  Wake,
} from "../protocol/connector.js";
import { StorageUnavailableError } from "../protocol/errors.js";
import type { Durability, StorageReport, StoreEvent } from "../protocol/events.js";
import type { IntegrityPart, TransferBegun } from "../protocol/transfer.js";
import type { CallMethod, StorageDescription } from "../protocol/wire.js";
import { Connection } from "./connection.js";
import { followPageLife } from "./page-life.js";

export interface OpenConnectionOptions {
  readonly name: string;
  /** Default "strict". */
  readonly durability?: Durability;
  readonly fallback?: "memory";
  /** Asks the browser not to evict this origin's data. */
  readonly persist?: boolean;
  /** Milliseconds; default 10,000. */
  readonly ownerTimeout?: number;
  readonly changesLimit?: number;
  readonly workerUrl?: string | URL;
  readonly brokerUrl?: string | URL;
  readonly wasmUrl?: string | URL;
  /** Default "port": by a SharedWorker where there is one. */
  readonly transport?: "port" | "broadcast";
}

/** A StoreConnector whose owner is a worker of this page or of another tab. */
export interface WorkerConnector extends StoreConnector {
  /** Asks for this durability from now on; of several sessions the stricter wins. */
  setDurability(durability: Durability): void;
  /** What a subscriber that comes now has missed and still holds: who owns, and that nothing is durable. */
  standing(): readonly StoreEvent[];
}

/**
 * Resolves once an owner answers.
 *
 * @throws StorageUnavailableError, StorageDamagedError, DatabaseNewerError, NoOwnerError, OwnerUnresponsiveError
 */
export async function openConnection(options: OpenConnectionOptions): Promise<WorkerConnector> {
  const isPage = typeof document !== "undefined";
  requirePlatform(isPage);
  const connection = new Connection({
    name: options.name,
    durability: options.durability ?? "strict",
    fallback: options.fallback,
    ownerTimeout: options.ownerTimeout ?? 10_000,
    changesLimit: options.changesLimit,
    workerUrl: options.workerUrl,
    brokerUrl: options.brokerUrl,
    wasmUrl: options.wasmUrl,
    transport: options.transport ?? "port",
    canOwn: isPage,
  });
  const unfollow = followPageLife({ away: () => connection.suspend(), back: () => void connection.begin() });
  const close = async (): Promise<void> => {
    await connection.close();
    unfollow(); // Not before: a page that is put away while it closes must give its locks up as any other.
  };
  try {
    const answer = connection.call("describe", null);
    answer.catch(() => undefined); // Awaited below; `begin` may fail first.
    await connection.begin();
    await answer;
    // Not awaited: Firefox asks the person, who may never answer. `storage()` tells what came of it.
    if (options.persist === true) navigator.storage.persist().catch(() => undefined);
  } catch (error) {
    await close();
    throw error;
  }
  return connectorOver(connection, close);
}

function connectorOver(connection: Connection, close: () => Promise<void>): WorkerConnector {
  // The one place where a reply becomes typed: each method's reply has the type its connector promises.
  const call = <T>(method: CallMethod, body: unknown, options?: CallOptions): Promise<T> =>
    connection.call(method, body, options?.signal) as Promise<T>;
  return {
    session: connection.session,
    readStore: (key, options) => call<StoreReading>("readStore", key, options),
    commit: (request, options) => call<CommitOutcome>("commit", request, options),
    getAppliedStoreStep: (request, options) => call<AppliedStep>("getAppliedStoreStep", request, options),
    listStores: (request, options) => call<readonly string[]>("listStores", request, options),
    readChanges: (request, options) => call<ChangesReading>("readChanges", request, options),
    registerWaiter: (registration, options) => call<WaiterOutcome>("registerWaiter", registration, options),
    readWakes: (request, options) => call<readonly Wake[]>("readWakes", request, options),
    acknowledgeWake: (request) => call<void>("acknowledgeWake", request),
    releaseWake: (request) => call<void>("releaseWake", request),
    forgetExecution: (executionId) => call<void>("forgetExecution", executionId),
    transfer: {
      beginTransfer: (kind) => call<TransferBegun>("beginTransfer", kind),
      readExport: (request) => call<Uint8Array<ArrayBuffer>>("readExport", request),
      writeImport: (request) => call<void>("writeImport", request),
      checkImport: (request) => call<IntegrityPart>("checkImport", request),
      finishImport: (transfer) => call<void>("finishImport", transfer),
      endTransfer: (transfer) => call<void>("endTransfer", transfer),
      checkIntegrity: (part) => call<IntegrityPart>("checkIntegrity", part),
    },
    storage: async () => reportStorage(await call<StorageDescription>("describe", null)),
    subscribe: (listener) => connection.subscribe(listener),
    standing: () => connection.standing(),
    setDurability: (durability) => connection.setDurability(durability),
    close,
  };
}

async function reportStorage(description: StorageDescription): Promise<StorageReport> {
  if (description.kind === "memory") return description;
  const [persisted, estimate] = await Promise.all([navigator.storage.persisted(), navigator.storage.estimate()]);
  return { ...description, persisted, usage: estimate.usage ?? null, quota: estimate.quota ?? null };
}

/** Web Locks decide who owns; without them two tabs would write into one file. So there is no going on without. */
function requirePlatform(isPage: boolean): void {
  const missing = [
    isPage && typeof Worker === "undefined" && "Worker",
    typeof BroadcastChannel === "undefined" && "BroadcastChannel",
    (typeof navigator === "undefined" || navigator.locks === undefined) && "Web Locks",
  ].filter((feature) => feature !== false);
  if (missing.length === 0) return;
  throw new StorageUnavailableError(
    `Stores need ${missing.join(", ")}, and this environment has none: open them in a browser page served over https or from localhost, not while rendering on a server.`,
    { reason: "unsupported", missing },
  );
}
