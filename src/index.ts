export type { ChangesOptions } from "./change-feed.js";
export { type DurableSchema, defineStore, type StoreDefinition, type StoreOptions } from "./define-store.js";
export type { DeepReadonly, Draft, Matched, NotDurable } from "./durable-type.js";
export type { Logger } from "./logger.js";
export { type OpenStoresOptions, openStores } from "./open-stores.js";
export type { StepId } from "./protocol/connector.js";
export { decodeDurable, type DurableValue, encodeDurable } from "./protocol/durable-value.js";
export {
  AbortedError,
  ChangesTrimmedError,
  ClientOutdatedError,
  ClosedError,
  DatabaseNewerError,
  DefinitionOutdatedError,
  DraftMisuseError,
  type ErrorDetails,
  ExecutionForgottenError,
  ImportRefusedError,
  InvalidArgumentError,
  MigrationFailedError,
  NoOwnerError,
  OutcomeUnknownError,
  OwnerUnresponsiveError,
  ProtocolViolationError,
  ReceiptMismatchError,
  StorageDamagedError,
  StorageFullError,
  StorageUnavailableError,
  type StorageUnavailableReason,
  StoreChangedTooOftenError,
  TransferInterruptedError,
  ValidationFailedError,
  type ValidationIssue,
  ValueNotDurableError,
  WakefulError,
} from "./protocol/errors.js";
export type { Durability, StorageReport, StorageStatus } from "./protocol/events.js";
export type { StorePath } from "./protocol/path.js";
export type { StoreChange } from "./store-change.js";
export type {
  CallRequest,
  Claim,
  DeleteFromRequest,
  MissingSnapshot,
  ObservedSnapshot,
  Selector,
  SnapshotReference,
  StoreAddress,
  StoreAddresses,
  StoreClient,
  StoreDeleteFrom,
  StoreHandle,
  StoreSnapshot,
  StoreStates,
  StoreTake,
  StoreUpdate,
  StoreUpdateFrom,
  StoreUpdates,
  TakeRequest,
  Transaction,
  TransactRequest,
  UpdateFromRequest,
  Updater,
  UpdateRequest,
  VersionConflict,
  WaiterRegistered,
  WaiterRequest,
  WaitOptions,
  WatchOptions,
} from "./store-client.js";
export type { StoreEventListener, StoreEventMap, StoreEventType } from "./store-events.js";
export type { Stores } from "./stores.js";
export type {
  ExportOptions,
  ImportOptions,
  IntegrityOptions,
  IntegrityReport,
  TransferProgress,
} from "./transfer.js";
export type { StoreWake } from "./wakes.js";
