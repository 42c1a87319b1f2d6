/** The checks behind W1 (wire.ts): whether a value that arrived is exactly a message of the protocol. */
import type { Change } from "./change.js";
import type { WireError } from "./errors.js";
import { STORAGE_STATUSES } from "./events.js";
import { TRANSFER_METHODS } from "./transfer.js";
import {
  ATTEMPTS,
  type BrokerMessage,
  type CallReply,
  type CallRequest,
  type ChannelMessage,
  STORE_METHODS,
  type StorageDescription,
  type Versions,
} from "./wire.js";

type Check<T> = (value: unknown) => value is T;
type Fields = { readonly [key: string]: (value: unknown) => boolean };

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const is =
  <const T>(...allowed: readonly T[]): Check<T> =>
  (value): value is T =>
    allowed.some((one) => one === value);
const either =
  <T>(...checks: readonly ((value: unknown) => boolean)[]): Check<T> =>
  (value): value is T =>
    checks.some((check) => check(value));
const listOf =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(check);

/** Exactly these fields, no more: a message with a field that nobody knows is of another protocol. */
function record<T>(fields: Fields, optional: Fields = {}): Check<T> {
  const required = Object.keys(fields);
  return (value): value is T => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const given = value as Readonly<Record<string, unknown>>;
    const names = Object.keys(given);
    return (
      required.every((name) => Object.hasOwn(given, name)) &&
      names.every((name) => {
        const check = Object.hasOwn(fields, name) ? fields[name] : optional[name];
        return check?.(given[name]) === true;
      })
    );
  };
}

const isAnyRecord = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

const isVersions: Check<Versions> = record({
  protocol: isCount,
  schema: isCount,
  oldestSchema: isCount,
  library: isText,
});
const isWireError: Check<WireError> = record(
  { code: isText, message: isText, details: isAnyRecord },
  { cause: record({ name: isText, message: isText }) },
);
const isChange: Check<Change> = record({
  storeName: isText,
  storeId: isText,
  sequence: isCount,
  position: isCount,
  instanceId: isText,
  version: isCount,
  changedPaths: isText,
  deleted: isBoolean,
  origin: isText,
});
const isStorage: Check<StorageDescription> = either(
  record({ kind: is("opfs"), durability: is("strict", "relaxed") }),
  record({ kind: is("memory"), reason: isText }),
);

const channelChecks: { readonly [Type in ChannelMessage["type"]]: Check<ChannelMessage> } = {
  hello: record({
    type: is("hello"),
    versions: isVersions,
    session: isText,
    durability: is("strict", "relaxed"),
    changesLimit: either(is(null), isCount),
  }),
  owner: record({
    type: is("owner"),
    versions: isVersions,
    epoch: isCount,
    host: isText,
    databaseId: isText,
    sequence: isCount,
    storage: isStorage,
    to: either(is(null), isText),
  }),
  commit: record({ type: is("commit"), epoch: isCount, changes: listOf(isChange) }),
  wake: record({ type: is("wake"), epoch: isCount, executionIds: listOf(isText) }),
  storage: record({
    type: is("storage"),
    epoch: isCount,
    status: is(...STORAGE_STATUSES),
    reason: isText,
  }),
};

function typeOf(value: unknown): string {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
    ? value.type
    : "";
}

/** Whether `value` is a message of the event channel. */
export const isChannelMessage: Check<ChannelMessage> = (value): value is ChannelMessage => {
  const type = typeOf(value);
  return Object.hasOwn(channelChecks, type) && channelChecks[type as ChannelMessage["type"]](value);
};

/** Whether `value` is a call; its body is checked by the method that it names. */
export const isCallRequest: Check<CallRequest> = record({
  session: isText,
  number: isCount,
  acknowledged: isCount,
  attempt: is(...ATTEMPTS),
  epoch: isCount,
  method: is(...STORE_METHODS, ...TRANSFER_METHODS, "describe" as const, "leave" as const),
  body: () => true,
});

/** Whether `value` answers a call. */
export const isCallReply: Check<CallReply> = either(
  record({ epoch: isCount, number: isCount, status: is("done"), value: () => true }),
  record({ epoch: isCount, number: isCount, status: is("failed"), error: isWireError }),
);

/** Whether `value` is a message between page and broker. */
export const isBrokerMessage: Check<BrokerMessage> = either(
  record({ type: is("host"), name: isText, epoch: isCount }),
  record({ type: is("connect"), name: isText, epoch: isCount, session: isText }),
);

/** Comlink's frame around one argument or result that crosses as it is. */
interface RawValue {
  readonly type: "RAW";
  readonly value: unknown;
}

const isRaw = (check: (value: unknown) => boolean): Check<RawValue> => record({ type: is("RAW"), value: check });

/** Whether `data` is Comlink's frame around one call, and nothing else that Comlink could do (get, set, construct …). */
export const isRequestFrame: Check<{ readonly argumentList: readonly [{ readonly value: CallRequest }] }> = record({
  id: isText,
  type: is("APPLY"),
  path: (value) => Array.isArray(value) && value.length === 0,
  argumentList: (value) => Array.isArray(value) && value.length === 1 && isRaw(isCallRequest)(value[0]),
});

/** Whether `data` is Comlink's frame around one reply. */
export const isReplyFrame: Check<{ readonly value: CallReply }> = record({
  id: isText,
  type: is("RAW"),
  value: isCallReply,
});
