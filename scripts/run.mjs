/** Runs a command of this repository, its packages' commands included, with this process's output and no input. */
import { spawn } from "node:child_process";
import { delimiter, join, resolve } from "node:path";

export const repository = resolve(import.meta.dirname, "..");

/** Runs `command` and answers its exit code; a command that cannot start, is killed or takes too long answers non-zero. */
export function run([command, ...args], { env = {}, minutes = 30 } = {}) {
  const path = [join(repository, "node_modules/.bin"), process.env.PATH].join(delimiter);
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd: repository,
      env: { ...process.env, ...env, PATH: path },
      stdio: ["ignore", "inherit", "inherit"],
      shell: process.platform === "win32",
      timeout: minutes * 60_000,
    });
    child.once("error", (error) => {
      console.error(`${command} did not start: ${error.message}`);
      done(127);
    });
    child.once("close", (code, signal) => {
      if (signal) console.error(`${command} was ended by ${signal} (its limit is ${minutes} minutes)`);
      done(code ?? 1);
    });
  });
}

/** Runs a command and ends this process with its exit code if it fails. */
export async function must(command, options) {
  const code = await run(command, options);
  if (code !== 0) {
    console.error(`\n${command.join(" ")} failed (exit code ${code})`);
    process.exit(code);
  }
}
