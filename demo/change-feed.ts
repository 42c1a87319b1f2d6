/** The live change feed, and the stores it tells of, last changed first. */
import { ChangesTrimmedError, type StoreChange, type Stores } from "wakeful";
import { byId, element } from "./element.js";
import { formatPath } from "./event-text.js";
import { paced } from "./paced.js";

const CHANGES_SHOWN = 40;
const STORES_SHOWN = 8;
/** Commits from before this tab. */
const PAST_SHOWN = 20;
/** Milliseconds. */
const DRAW_EVERY = 250;

export class ChangeFeed {
  readonly #stores: Stores;
  readonly #onSequence: (sequence: number) => void;
  #changes: StoreChange[] = [];
  /** The last change of each store, the newest first. */
  #lastOfEach: StoreChange[] = [];
  readonly #drawSoon: (nothing: void) => void = paced(DRAW_EVERY, () => this.#draw());

  constructor(stores: Stores, onSequence: (sequence: number) => void) {
    this.#stores = stores;
    this.#onSequence = onSequence;
  }

  /** Follows the feed for as long as the page is there, beginning with the last commits up to `sequence`. */
  async follow(sequence: number): Promise<void> {
    try {
      await this.#followFrom(Math.max(0, sequence - PAST_SHOWN));
    } catch (error) {
      if (!(error instanceof ChangesTrimmedError)) throw error;
      await this.#followFrom(error.oldest - 1); // The database keeps fewer.
    }
  }

  async #followFrom(after: number): Promise<void> {
    for await (const change of this.#stores.changes({ after })) {
      this.#changes = [change, ...this.#changes.slice(0, CHANGES_SHOWN - 1)];
      const others = this.#lastOfEach.filter((last) => !isSameStore(last, change));
      this.#lastOfEach = [change, ...others.slice(0, STORES_SHOWN - 1)];
      this.#onSequence(change.sequence);
      this.#drawSoon();
    }
  }

  #draw(): void {
    byId("changes", HTMLElement).replaceChildren(...this.#changes.map(changeRow));
    byId("stores", HTMLElement).replaceChildren(
      ...this.#lastOfEach.map(({ storeName, storeId, version, deleted }) =>
        element(
          "li",
          {},
          element("span", { class: "code" }, `${storeName} ${storeId}`),
          element("span", { class: "code" }, deleted ? "deleted" : `version ${version}`),
        ),
      ),
    );
  }
}

function isSameStore(one: StoreChange, other: StoreChange): boolean {
  return one.storeName === other.storeName && one.storeId === other.storeId;
}

function changeRow({ sequence, storeName, storeId, version, changedPaths, deleted }: StoreChange): HTMLElement {
  const paths = changedPaths.slice(0, 3).map(formatPath).join(", ");
  const more = changedPaths.length > 3 ? ` and ${changedPaths.length - 3} more` : "";
  return element(
    "li",
    { class: "code" },
    element("span", { class: "sequence" }, String(sequence)),
    element("span", {}, `${storeName} ${storeId} ${deleted ? "deleted" : `v${version}`}`),
    element("span", { class: "paths" }, deleted ? "" : paths + more),
  );
}
