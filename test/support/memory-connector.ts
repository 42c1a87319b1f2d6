export * from "../../src/testing/memory-connector.js";
