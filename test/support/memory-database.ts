export * from "../../src/testing/memory-database.js";
