/** The cards before and during the import. */
import type { StoreHandle, Stores } from "wakeful";
import { reportActivity } from "./activity.js";
import type { EarthquakeFacts } from "./earthquake.js";
import { byId, setText } from "./element.js";
import { formatCount } from "./event-text.js";
import { importFeed } from "./import-feed.js";
import { showProblem } from "./notices.js";
import type { Progress } from "./progress.js";
import type { QueueState } from "./queue.js";

export class ImportCard {
  readonly #stores: Stores;
  readonly #queue: StoreHandle<QueueState>;
  readonly #feed: readonly EarthquakeFacts[];
  #running = false;

  constructor(stores: Stores, queue: StoreHandle<QueueState>, feed: readonly EarthquakeFacts[]) {
    this.#stores = stores;
    this.#queue = queue;
    this.#feed = feed;
    for (const button of document.querySelectorAll("[data-import]")) {
      if (button.id === "") button.textContent = `Import ${formatCount(feed.length)} events`;
      button.addEventListener("click", () => void this.#run());
    }
  }

  show({ total, imported }: Progress): void {
    setText("import-count", `${formatCount(imported)} of ${formatCount(total)}`);
    byId("import-resume", HTMLElement).hidden = this.#running;
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    byId("import-resume", HTMLElement).hidden = true;
    while (this.#running) {
      try {
        await importFeed(this.#stores, this.#queue, this.#feed);
        reportActivity({ type: "imported" });
        this.#running = false;
      } catch (error) {
        await showProblem(error); // What is imported already is passed over.
      }
    }
  }
}
