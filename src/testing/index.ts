/** Tools for tests of apps that use wakeful. README.md beside this file says which works where. */
export { type ManualClock, manualClock } from "./manual-clock.js";
export { openTestStores, type TestStores, type TestStoresOptions } from "./open-test-stores.js";
