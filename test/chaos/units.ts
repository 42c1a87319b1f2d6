/** The calls of a history, those of one step taken together, and what each is known to have written. */
import { type Begin, type End, type Entry, unitOf } from "./entries.js";

/** A call that was made as often as its step was repeated, and all that became of it. */
export interface Unit {
  readonly name: string;
  readonly begins: Begin[];
  readonly ends: End[];
}

/** Ends that promise that nothing was written, and that the load itself brings about. */
export const CALLED_OFF: readonly string[] = ["closed", "aborted"];
export function unitsOf(entries: readonly Entry[]): ReadonlyMap<string, Unit> {
  const units = new Map<string, Unit>();
  const byCall = new Map<string, Unit>();
  for (const entry of entries) {
    if (entry.type === "begin") {
      const call = `${entry.tab}/${entry.call}`;
      if (byCall.has(call)) continue; // Written down twice, made once.
      const name = unitOf(entry);
      const unit = units.get(name) ?? { name, begins: [], ends: [] };
      unit.begins.push(entry);
      units.set(name, unit);
      byCall.set(call, unit);
    } else if (entry.type === "end") byCall.get(`${entry.tab}/${entry.call}`)?.ends.push(entry);
  }
  return units;
}

export const operationOf = ({ begins }: Unit): Begin["operation"] => {
  const [first] = begins;
  if (first === undefined) throw new Error("A unit begins with a call.");
  return first.operation;
};

export const said = (unit: Unit): string => `${unit.name} (${JSON.stringify(operationOf(unit))})`;

export interface Write {
  readonly store: string;
  readonly version: number;
}

/** What a unit is known to have written, by version. */
export function writesOf(unit: Unit): readonly Write[] {
  const operation = operationOf(unit);
  for (const { outcome } of unit.ends) {
    if (outcome.kind === "written") return [{ store: operation.store, version: outcome.version }];
    if (outcome.kind === "transferred" && operation.kind === "transfer") {
      return [
        { store: operation.store, version: outcome.version },
        { store: operation.to, version: outcome.toVersion },
      ];
    }
  }
  return [];
}

/** What a unit may have written without anybody having been told: its tab died first, or it does not know. */
export function mayHaveWritten(unit: Unit): readonly string[] {
  const operation = operationOf(unit);
  if (operation.kind === "read" || operation.kind === "wait" || operation.kind === "sleep") return [];
  const unknown = unit.begins.some(({ tab, call }) => {
    const end = unit.ends.find((one) => one.tab === tab && one.call === call);
    return end === undefined || (end.outcome.kind === "failed" && !CALLED_OFF.includes(end.outcome.code));
  });
  if (!unknown || writesOf(unit).length > 0) return [];
  return operation.kind === "transfer" ? [operation.store, operation.to] : [operation.store];
}
