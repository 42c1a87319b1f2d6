/**
 * The cases of a script that is no test runner: runs one after the other, prints each, and writes how many passed and
 * failed to the file that COUNTS_FILE names.
 */
import { writeFileSync } from "node:fs";

export class CaseCounts {
  #passed = 0;
  #failed = 0;

  /** Runs one case. A case that throws has failed and does not keep the next one from running; answers what it returned. */
  async run(name, work) {
    const started = performance.now();
    try {
      const value = await work();
      this.#passed += 1;
      console.log(`  ✓ ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
      return value;
    } catch (error) {
      this.#failed += 1;
      console.error(`  ✗ ${name}\n${indent(error instanceof Error ? (error.stack ?? error.message) : String(error))}`);
      return undefined;
    }
  }

  /** Prints the sum and sets the exit code; call it last. */
  finish() {
    const counts = { passed: this.#passed, failed: this.#failed, skipped: [] };
    if (process.env.COUNTS_FILE) writeFileSync(process.env.COUNTS_FILE, JSON.stringify(counts));
    console.log(`${counts.passed} passed, ${counts.failed} failed`);
    process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
  }
}

function indent(text) {
  return text.replaceAll(/^/gm, "    ");
}
