export { type DamagedFile, recoverStores, type RecoverStoresOptions, type Recovery } from "./recover-stores.js";
export type { RecoveredStore } from "./stored-rows.js";
