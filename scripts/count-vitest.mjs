/** A Vitest reporter: writes how many cases passed, failed and were skipped, and why, to the file that COUNTS_FILE names. */
import { writeFileSync } from "node:fs";

export default class CountVitest {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const module of modules) {
      // A file that could not be collected has no cases to fail.
      counts.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state, note } = test.result();
        if (state === "passed") counts.passed += 1;
        else if (state === "skipped") counts.skipped.push({ name: test.fullName, reason: note ?? "" });
        else counts.failed += 1;
      }
    }
    if (process.env.COUNTS_FILE) writeFileSync(process.env.COUNTS_FILE, JSON.stringify(counts));
  }
}
