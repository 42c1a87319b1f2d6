/** The card of the event in hand: its facts, and the form that rates it. Keys 1 to 4 choose, Enter saves. */
import {
  APPROVAL_MAGNITUDE,
  type EarthquakeFacts,
  type EarthquakeState,
  type Rating,
  type Review,
  ratings,
} from "./earthquake.js";
import { byId, element, setText } from "./element.js";
import type { EventMap } from "./event-map.js";
import { formatCoordinates, formatDepth, formatMagnitude, formatRank, formatTime, ratingLabels } from "./event-text.js";
import type { Verdict } from "./review-rules.js";
import { reviewerName } from "./reviewer.js";

export class ReviewPanel {
  readonly #form = byId("rating-form", HTMLFormElement);
  readonly #submit = byId("submit", HTMLButtonElement);
  readonly #feed: readonly EarthquakeFacts[];
  readonly #map: EventMap;
  #finish: ((verdict: Verdict) => void) | null = null;

  constructor(feed: readonly EarthquakeFacts[], map: EventMap) {
    this.#feed = feed;
    this.#map = map;
    byId("choices", HTMLElement).replaceChildren(...ratings.map(choice));
    this.#form.addEventListener("change", () => this.#showSubmit());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    document.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Shows an event and resolves with what the person made of it. */
  rate({ facts, review }: Readonly<EarthquakeState>, gone: AbortSignal): Promise<Verdict> {
    if (facts === null) throw new Error("An event that was not imported cannot be rated.");
    this.#show(facts, review);
    return new Promise((resolve) => {
      this.#finish = resolve;
      gone.addEventListener("abort", () => {
        if (this.#finish === resolve) this.#close();
      });
    });
  }

  #show(facts: EarthquakeFacts, review: Review): void {
    const { magnitude } = facts;
    setText("place", facts.place);
    setText("rank", formatRank(magnitude, this.#feed));
    setText("magnitude", formatMagnitude(magnitude));
    setText("scale", facts.scale);
    setText("time", formatTime(facts.time));
    setText("depth", formatDepth(facts.depth));
    setText("coordinates", formatCoordinates(facts));
    setText("kind", facts.kind);
    byId("magnitude", HTMLElement).style.setProperty("--magnitude", magnitudeColour(magnitude));
    const needsApproval = magnitude >= APPROVAL_MAGNITUDE;
    this.#submit.textContent = needsApproval ? "Ask for approval" : "Save";
    byId("approval-hint", HTMLElement).hidden = !needsApproval;
    const declined = byId("declined", HTMLElement);
    declined.hidden = review.status !== "declined";
    if (review.status === "declined") {
      const [who, by] = [reviewerName(review.reviewer), reviewerName(review.declinedBy)];
      declined.textContent = `${who} rated it ${ratingLabels[review.rating].toLowerCase()}; ${by} declined that.`;
    }
    this.#map.show(facts);
    this.#form.reset();
    this.#form.dataset["event"] = facts.id;
    this.#form.dataset["magnitude"] = String(magnitude);
    this.#form.inert = false;
    this.#showSubmit();
  }

  #chosen(): Rating | undefined {
    const value = new FormData(this.#form).get("rating");
    return ratings.find((rating) => rating === value);
  }

  #showSubmit(): void {
    this.#submit.disabled = this.#chosen() === undefined;
  }

  #save(): void {
    const rating = this.#chosen();
    const finish = this.#finish;
    if (rating === undefined || finish === null) return;
    const note = byId("note", HTMLInputElement).value.trim();
    this.#close();
    finish({ rating, note });
  }

  #close(): void {
    this.#finish = null;
    this.#form.inert = true; // What was typed stays to be seen until the next event comes.
    this.#form.dataset["event"] = "";
  }

  #onKey(event: KeyboardEvent): void {
    if (this.#finish === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.matches("input[type=text]")) return; // Enter submits from there by itself.
    const rating = ratings[Number(event.key) - 1];
    if (rating !== undefined) {
      const input = this.#form.querySelector<HTMLInputElement>(`input[value=${rating}]`);
      input?.click();
      input?.focus();
    } else if (event.key === "Enter" && !target.matches("button, a, summary, input")) {
      this.#form.requestSubmit();
    }
  }
}

function choice(rating: Rating, index: number): HTMLElement {
  const input = element("input", { type: "radio", name: "rating", value: rating });
  return element(
    "label",
    { class: "choice", "data-rating": rating },
    input,
    element("span", {}, ratingLabels[rating]),
    element("kbd", { "aria-hidden": "true" }, String(index + 1)),
  );
}

function magnitudeColour(magnitude: number): string {
  if (magnitude >= APPROVAL_MAGNITUDE) return "var(--rating-alarming)";
  if (magnitude >= 4) return "var(--rating-notable)";
  return magnitude >= 2.5 ? "var(--rating-felt)" : "var(--ink)";
}
