/** The events that wait for a second reviewer: those of others with two buttons, one's own without. */
import { byId, element } from "./element.js";
import { formatMagnitude, ratingLabels } from "./event-text.js";
import type { ApprovalRequest } from "./queue.js";
import type { Reviewer } from "./reviewer.js";
import { reviewerName } from "./reviewer.js";

export type Decide = (eventId: string, request: ApprovalRequest, approved: boolean) => Promise<void>;

export interface ApprovalListOptions {
  readonly reviewer: Reviewer;
  readonly decide: Decide;
}

type Requests = { readonly [eventId: string]: Readonly<ApprovalRequest> };

export class ApprovalList {
  readonly #options: ApprovalListOptions;
  /** By event and turn. Rows stay where they are while others come and go, so that focus and presses are kept. */
  readonly #rows = new Map<string, HTMLElement>();

  constructor(options: ApprovalListOptions) {
    this.#options = options;
  }

  show(requests: Requests): void {
    const entries = Object.entries(requests).sort(([, a], [, b]) => a.since - b.since);
    byId("approvals", HTMLElement).hidden = entries.length === 0;
    const others = entries.filter(([, { reviewer }]) => reviewer !== this.#options.reviewer.id).length;
    const link = byId("approvals-link", HTMLAnchorElement);
    link.hidden = others === 0;
    link.textContent = `${others === 1 ? "1 rating needs" : `${others} ratings need`} your approval`;
    const wanted = new Set(entries.map(([eventId, { turn, reviewer }]) => `${eventId} ${reviewer} ${turn}`));
    for (const [key, row] of this.#rows) {
      if (wanted.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
    const list = byId("approval-list", HTMLElement);
    for (const [eventId, request] of entries) {
      const key = `${eventId} ${request.reviewer} ${request.turn}`;
      if (this.#rows.has(key)) continue;
      const row = this.#row(eventId, request);
      this.#rows.set(key, row);
      list.append(row);
    }
  }

  #row(eventId: string, request: ApprovalRequest): HTMLElement {
    const { place, magnitude, rating, note, reviewer } = request;
    const mine = reviewer === this.#options.reviewer.id;
    const who = mine ? "You rated it" : `${reviewerName(reviewer)} rated it`;
    return element(
      "li",
      { class: "approval", "data-rating": rating },
      element("span", { class: "approval-magnitude" }, formatMagnitude(magnitude)),
      element(
        "div",
        {},
        element("p", { class: "approval-place" }, place),
        element(
          "p",
          { class: "approval-detail" },
          `${who} ${ratingLabels[rating].toLowerCase()}.${note === "" ? "" : ` “${note}”`}${mine ? " Another tab must agree." : ""}`,
        ),
      ),
      ...(mine ? [] : [this.#actions(eventId, request)]),
    );
  }

  #actions(eventId: string, request: ApprovalRequest): HTMLElement {
    const button = (text: string, approved: boolean): HTMLButtonElement => {
      const made = element(
        "button",
        {
          type: "button",
          class: "button",
          "aria-label": `${text}: ${request.place}`,
          "data-approve": String(approved),
        },
        text,
      );
      made.addEventListener("click", () => {
        const both = made.parentElement?.querySelectorAll("button") ?? [];
        for (const one of both) one.disabled = true;
        void this.#options.decide(eventId, request, approved).finally(() => {
          for (const one of both) one.disabled = false;
        });
      });
      return made;
    };
    return element("div", { class: "approval-actions" }, button("Approve", true), button("Decline", false));
  }
}
