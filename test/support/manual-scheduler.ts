export { type ManualClock as ManualScheduler, manualClock as manualScheduler } from "../../src/testing/manual-clock.js";
