/**
 * The whole wire on one page: every message between page, worker, tabs and broker, and the checks of what arrives.
 *
 * Four ways, each with its own messages:
 * - page → its own worker and back (`WorkerCommand`, `WorkerNotice`): life of the worker, ports, nothing else;
 * - the event channel of a database (`ChannelMessage`): who owns it, what was committed. Nothing on it makes the owner
 *   write;
 * - a call link between one session and the owner (`CallRequest`, `CallReply`): a MessagePort, or a BroadcastChannel of
 *   that session alone;
 * - page → broker and back (`BrokerMessage`): hands a MessagePort to the page that hosts the owner.
 *
 * W1  A message that is not exactly of this page is dropped by its receiver and counted.
 * W2  Every message from an owner carries its epoch; what comes from an earlier epoch is dropped.
 * W3  A request names the epoch it is meant for; an owner of another epoch does not answer it.
 */
import type { Change } from "./change.js";
import type { WireError } from "./errors.js";
import type { Durability, StorageStatus } from "./events.js";
import type { TransferMethod } from "./transfer.js";

/** Raised when a message changes in a way that an older build would misread. */
export const PROTOCOL_VERSION = 1;
/** Newest migration of the database that this build knows (worker/migrations.ts). */
export const SCHEMA_VERSION = 2;
/** Builds that know this migration can still read and write what this build's migrations make. */
export const OLDEST_SCHEMA = 2;
export const LIBRARY_VERSION = "0.1.0";

/** What a build says about itself in its first message. */
export interface Versions {
  readonly protocol: number;
  /** Newest migration that this build knows. */
  readonly schema: number;
  /** The oldest schema whose builds can still read and write a database that this build has migrated. */
  readonly oldestSchema: number;
  readonly library: string;
}

export const VERSIONS: Versions = {
  protocol: PROTOCOL_VERSION,
  schema: SCHEMA_VERSION,
  oldestSchema: OLDEST_SCHEMA,
  library: LIBRARY_VERSION,
};

/** The calls that a link carries: StoreConnector's, plus what the link needs itself. */
export const STORE_METHODS = [
  "readStore",
  "commit",
  "getAppliedStoreStep",
  "listStores",
  "readChanges",
  "registerWaiter",
  "readWakes",
  "acknowledgeWake",
  "releaseWake",
  "forgetExecution",
] as const;
export type StoreMethod = (typeof STORE_METHODS)[number];
/** `describe`: what the owner knows of its storage. `leave`: this session asks about none of its commits any more. */
export type CallMethod = StoreMethod | TransferMethod | "describe" | "leave";

/**
 * How often a call was sent. `again`: an owner was lost before it answered, and the client held its session's lock all
 * the time. `returning`: it gave that lock up in between, so that its session may have been removed meanwhile.
 */
export const ATTEMPTS = ["first", "again", "returning"] as const;
export type Attempt = (typeof ATTEMPTS)[number];

/** Which call of a session this is: what makes a commit that is sent again be applied once. */
export interface CallNumber {
  /** Ascending per session, from 1. A call that is sent again keeps its number. */
  readonly number: number;
  /** Every call of this session below this number has been settled at its client. */
  readonly acknowledged: number;
  readonly attempt: Attempt;
}

export interface CallRequest extends CallNumber {
  readonly session: string;
  /** The owner this call is meant for. */
  readonly epoch: number;
  readonly method: CallMethod;
  readonly body: unknown;
}

/** Number 0 and `failed`: the owner gives up for a newer build; whatever has no reply yet was not applied. */
export type CallReply =
  | { readonly epoch: number; readonly number: number; readonly status: "done"; readonly value: unknown }
  | { readonly epoch: number; readonly number: number; readonly status: "failed"; readonly error: WireError };

/** What a call link exposes through Comlink: one function. */
export type CallFunction = (request: CallRequest) => Promise<CallReply>;

/** The answer to "describe": what the owner knows of its storage and only it. */
export type StorageDescription =
  | { readonly kind: "opfs"; readonly durability: Durability }
  | { readonly kind: "memory"; readonly reason: string };

/** A session that looks for the owner, or asks whether it still is there. */
export interface HelloMessage {
  readonly type: "hello";
  readonly versions: Versions;
  readonly session: string;
  readonly durability: Durability;
  /** Changes that this session wants kept; `null`: no wish. */
  readonly changesLimit: number | null;
}

/** The owner says that it is there: to everybody when it begins, to one session when that said hello. */
export interface OwnerMessage {
  readonly type: "owner";
  readonly versions: Versions;
  readonly epoch: number;
  /** Session of the page whose worker this is. */
  readonly host: string;
  readonly databaseId: string;
  readonly sequence: number;
  readonly storage: StorageDescription;
  /** The session that is answered and is registered now; `null`: everybody, nobody is registered by it. */
  readonly to: string | null;
}

export interface CommitMessage {
  readonly type: "commit";
  readonly epoch: number;
  readonly changes: readonly Change[];
}

export interface WakeMessage {
  readonly type: "wake";
  readonly epoch: number;
  readonly executionIds: readonly string[];
}

export interface StorageMessage {
  readonly type: "storage";
  readonly epoch: number;
  readonly status: StorageStatus;
  readonly reason: string;
}

export type ChannelMessage = HelloMessage | OwnerMessage | CommitMessage | WakeMessage | StorageMessage;

/** What a page tells its worker to do. `start` carries the port of the page's own call link. */
export type WorkerCommand =
  | {
      readonly type: "start";
      readonly name: string;
      readonly session: string;
      readonly durability: Durability;
      readonly fallback: "memory" | null;
      readonly changesLimit: number | null;
      readonly wasmUrl: string | null;
      /** Highest epoch this page has heard of. */
      readonly epoch: number;
    }
  /** An owner of this epoch was heard of: a later owner must number itself above it. */
  | { readonly type: "heard"; readonly epoch: number }
  /** Prepare for taking over: load what can be loaded before owning. */
  | { readonly type: "warm" }
  /** A call link of `session`; the port is transferred with the message. */
  | { readonly type: "link"; readonly session: string; readonly epoch: number }
  /** Try again to own, after a failure. */
  | { readonly type: "retry" }
  /** Finish, close the database, give the lock up. */
  | { readonly type: "stop" };

export type WorkerNotice =
  /** The worker runs and holds the lock that shows it is alive. */
  | { readonly type: "started" }
  | OwnerMessage
  /** The worker got the lock but could not open; it gave the lock up again. */
  | { readonly type: "failed"; readonly error: WireError }
  | { readonly type: "stopped" };

export type BrokerMessage =
  /** This page hosts the owner of this epoch. */
  | { readonly type: "host"; readonly name: string; readonly epoch: number }
  /** Hand the transferred port to the host of this epoch, now or when it comes. */
  | { readonly type: "connect"; readonly name: string; readonly epoch: number; readonly session: string };

/** The Web Lock whose holder owns the database of this name. */
export const ownerLock = (name: string): string => `wakeful:${name}:owner`;
/** The Web Lock that a session holds as long as it lives. */
export const sessionLock = (name: string, session: string): string => `wakeful:${name}:session:${session}`;
/** The Web Lock that the worker of a session holds as long as it lives. */
export const workerLock = (name: string, session: string): string => `wakeful:${name}:worker:${session}`;
/** The BroadcastChannel of a database's events. */
export const eventChannel = (name: string): string => `wakeful:${name}`;
/** The BroadcastChannel that carries the calls of one session. */
export const sessionChannel = (name: string, session: string): string => `wakeful:${name}:session:${session}`;
