/** Processes of the operating system below another one, as /proc shows them. Linux only. */
import { readdirSync, readFileSync } from "node:fs";

function read(pid: number, file: "stat" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // It ended in the meantime.
  }
}

// The name in parentheses may hold spaces: count from behind it.
const fieldsOf = (pid: number): string[] => {
  const text = read(pid, "stat");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
};

/** Clock ticks of processor time that a process has used. */
export function busyTicks(pid: number): number {
  const [, , , , , , , , , , , user = "0", system = "0"] = fieldsOf(pid);
  return Number(user) + Number(system);
}

/** The descendants of `ancestor` whose command line contains `text`. */
export function processesBelow(ancestor: number, text: string): number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const parents = new Map(pids.map((pid) => [pid, Number(fieldsOf(pid)[1] ?? 0)]));
  const isBelow = (pid: number): boolean => {
    for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) {
      if (at === ancestor) return true;
    }
    return false;
  };
  return pids.filter((pid) => read(pid, "cmdline").includes(text) && isBelow(pid));
}
