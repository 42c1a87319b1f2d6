/** A Playwright reporter: writes how many cases passed, failed and were skipped, and why, to the file that COUNTS_FILE names. */
import { writeFileSync } from "node:fs";

export default class CountPlaywright {
  #errors = 0;
  #suite;

  printsToStdio() {
    return false;
  }

  onBegin(_config, suite) {
    this.#suite = suite;
  }

  // Errors outside of any case: a file that does not load, a server that does not start.
  onError() {
    this.#errors += 1;
  }

  onEnd() {
    const counts = { passed: 0, failed: this.#errors, skipped: [] };
    for (const test of this.#suite?.allTests() ?? []) {
      const outcome = test.outcome();
      if (outcome === "expected") counts.passed += 1;
      else if (outcome === "skipped")
        counts.skipped.push({ name: test.titlePath().slice(3).join(" > "), reason: reason(test) });
      else counts.failed += 1;
    }
    if (process.env.COUNTS_FILE) writeFileSync(process.env.COUNTS_FILE, JSON.stringify(counts));
  }
}

function reason(test) {
  const annotations = [...test.annotations, ...test.results.flatMap((result) => result.annotations)];
  return annotations.find(({ type }) => type === "skip" || type === "fixme")?.description ?? "";
}
