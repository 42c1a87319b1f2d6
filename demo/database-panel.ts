/** Facts of the database: who owns it, how far it is, where it is kept. */
import type { StorageReport } from "wakeful";
import { byId, element } from "./element.js";
import { formatBytes, formatCount } from "./event-text.js";
import { paced } from "./paced.js";

export interface DatabaseFacts {
  owner: "this tab" | "another tab" | null;
  epoch: number | null;
  sequence: number | null;
  storage: StorageReport | null;
  tabs: number | null;
  offline: string;
}

export class DatabasePanel {
  readonly #facts: DatabaseFacts = {
    owner: null,
    epoch: null,
    sequence: null,
    storage: null,
    tabs: null,
    offline: "not yet",
  };
  readonly #drawSoon: (nothing: void) => void = paced(100, () => this.#draw());

  update(facts: Partial<DatabaseFacts>): void {
    Object.assign(this.#facts, facts);
    if (facts.owner !== undefined) document.documentElement.dataset["owner"] = String(facts.owner === "this tab");
    if (facts.epoch !== undefined) document.documentElement.dataset["epoch"] = String(facts.epoch);
    this.#drawSoon();
  }

  #draw(): void {
    const { owner, epoch, sequence, storage, tabs, offline } = this.#facts;
    const rows: [string, Node | string][] = [
      ["Owner", owner === "this tab" ? element("span", { class: "tag" }, "This tab") : (owner ?? "not known yet")],
      ["Epoch", epoch === null ? "–" : String(epoch)],
      ["Sequence", sequence === null ? "–" : formatCount(sequence)],
      ["Storage", storage === null ? "–" : describeStorage(storage)],
      ...(storage?.kind === "opfs" ? opfsRows(storage) : []),
      ["Tabs", tabs === null ? "–" : String(tabs)],
      ["Offline", offline],
    ];
    byId("database", HTMLElement).replaceChildren(
      ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
    );
  }
}

function describeStorage(storage: StorageReport): string {
  if (storage.kind === "memory") return `in memory only: ${storage.reason}`;
  return storage.durability === "strict" ? "OPFS, each commit flushed" : "OPFS, flushed later";
}

function opfsRows({ persisted, usage, quota }: Extract<StorageReport, { kind: "opfs" }>): [string, string][] {
  const of = quota === null ? "" : ` of ${formatBytes(quota)}`;
  return [
    ["Kept", persisted ? "until you delete it" : "unless the browser needs the room"],
    ["Used", usage === null ? "not told" : `${formatBytes(usage)}${of}`],
  ];
}
