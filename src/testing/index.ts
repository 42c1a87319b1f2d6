/** Tools for tests of apps that use wakeful. README.md beside this file says which works where. */
export type { DatabaseState } from "./database-observer.js";
export { DatabaseTabs, type DatabaseTabsOptions } from "./database-tabs.js";
export type { Interference } from "./interposition.js";
export { type ManualClock, manualClock } from "./manual-clock.js";
export { openTestStores, type TestStores, type TestStoresOptions } from "./open-test-stores.js";
export { openProfile, type Profile } from "./profile.js";
