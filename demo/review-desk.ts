/**
 * One reviewer's work: take the next event, have it rated, take the next one.
 *
 * Owns the loop and this reviewer's waits. Does not own what is shown (review-panel.ts) or the rules (review-rules.ts).
 *
 * D1  Every write carries a step id, so that a reload or the loss of the owner never makes it happen twice.
 * D2  What is in this reviewer's hand is read from the store first: a reloaded page goes on with it.
 * D3  An event that waits for a second reviewer does not keep this one from the next event.
 */
import type { DeepReadonly, Stores } from "wakeful";
import { reportActivity } from "./activity.js";
import { Earthquake, type EarthquakeState, type Review } from "./earthquake.js";
import { persevere } from "./persevere.js";
import { type ApprovalRequest, Queue, QUEUE_ID, type QueueState } from "./queue.js";
import { claimEvent, decide, NotAllowed, nextEvent, rateEvent, type Verdict } from "./review-rules.js";
import type { Reviewer } from "./reviewer.js";
import { stepIds } from "./step-ids.js";
import { Waits } from "./waits.js";

/** Where the person is. */
export interface DeskView {
  /** Resolves with what the person made of the event. `gone` aborts when it is no longer in this reviewer's hand. */
  rate(quake: Readonly<EarthquakeState>, gone: AbortSignal): Promise<Verdict>;
  /** Nothing is in hand. */
  idle(): void;
  tell(text: string): void;
  /** Resolves when the person wants to try again. */
  problem(error: unknown): Promise<void>;
  waitsChanged(): void;
}

export class ReviewDesk {
  readonly waits: Waits;
  readonly #stores: Stores;
  readonly #reviewer: Reviewer;
  readonly #view: DeskView;
  /** Events whose decision is waited for. */
  readonly #awaited = new Set<string>();

  constructor(stores: Stores, reviewer: Reviewer, view: DeskView) {
    this.waits = new Waits(stores, () => view.waitsChanged());
    this.#stores = stores;
    this.#reviewer = reviewer;
    this.#view = view;
  }

  /** Works as long as the page is there. */
  async run(): Promise<never> {
    for (;;) {
      try {
        await this.#work();
      } catch (error) {
        if (error instanceof NotAllowed) this.#view.tell(error.message);
        else await this.#view.problem(error);
      }
    }
  }

  /** Approves or declines what another reviewer rated. */
  async decide(eventId: string, request: ApprovalRequest, approved: boolean): Promise<void> {
    const reviewer = this.#reviewer.id;
    const stepId = stepIds.decide(reviewer, request.reviewer, request.turn);
    const stores = { quake: this.#stores.store(Earthquake, eventId), queue: this.#queue() };
    try {
      await persevere(() =>
        this.#stores.transact(stores, (drafts) => decide(drafts, reviewer, request.turn, approved), { stepId }),
      );
      reportActivity({ type: "decided", reviewer, eventId, approved });
    } catch (error) {
      if (!(error instanceof NotAllowed)) throw error;
      this.#view.tell(error.message);
    }
  }

  #queue() {
    return this.#stores.store(Queue, QUEUE_ID);
  }

  /** Begins with what the store says (D2) and goes on until something is in the way. */
  async #work(): Promise<never> {
    const reviewer = this.#reviewer.id;
    const { state } = await this.#queue().get();
    for (const [eventId, request] of Object.entries(state.approvals)) {
      if (request.reviewer === reviewer) this.#awaitDecision(eventId);
    }
    let turn = state.desks[reviewer]?.turn ?? 0;
    const held = state.desks[reviewer]?.holding;
    if (held != null) {
      reportActivity({ type: "resumed", reviewer, turn, eventId: held.eventId });
      await this.#review(held.eventId, turn);
    }
    for (;;) {
      turn += 1;
      const eventId = await this.#take(turn);
      reportActivity({ type: "taken", reviewer, turn, eventId });
      await this.#review(eventId, turn);
    }
  }

  async #review(eventId: string, turn: number): Promise<void> {
    const quake = this.#stores.store(Earthquake, eventId);
    const verdict = await this.#rate((await quake.get()).state, eventId);
    if (verdict === null) throw new NotAllowed("This tab was away, so its event went back to the queue.");
    const { state } = await this.#commitRating(eventId, turn, verdict);
    reportActivity({ type: "rated", reviewer: this.#reviewer.id, turn, eventId, rating: verdict.rating });
    if (state.review.status === "awaiting-approval") this.#awaitDecision(eventId); // D3
  }

  /** Waits for an event, and takes it. */
  #take(turn: number): Promise<string> {
    this.#view.idle();
    const reviewer = this.#reviewer.id;
    const stepId = stepIds.take(reviewer, turn); // D1
    const taking = persevere(() =>
      this.#queue().take(nextEvent, (draft, eventId) => claimEvent(draft, eventId, reviewer, Date.now()), { stepId }),
    );
    return this.waits.show("take", "the next event", this.#queue(), nextEvent, taking);
  }

  /** What the person made of it, or null if the event went out of this reviewer's hand meanwhile. */
  async #rate(quake: Readonly<EarthquakeState>, eventId: string): Promise<Verdict | null> {
    const reviewer = this.#reviewer.id;
    const over = new AbortController();
    const gone = new AbortController();
    const notHeld = (queue: DeepReadonly<QueueState>) => queue.desks[reviewer]?.holding?.eventId !== eventId;
    const waiting = this.#queue().when(notHeld, { signal: over.signal });
    const purpose = "the event leaving your hand, should this tab be away too long";
    const handedBack = this.waits.show("when", purpose, this.#queue(), notHeld, waiting).then(() => {
      gone.abort();
      return null;
    });
    try {
      return await Promise.race([this.#view.rate(quake, gone.signal), handedBack]);
    } finally {
      handedBack.catch(() => undefined); // Ended below.
      over.abort();
    }
  }

  async #commitRating(eventId: string, turn: number, verdict: Verdict) {
    const reviewer = this.#reviewer.id;
    const stores = { quake: this.#stores.store(Earthquake, eventId), queue: this.#queue() };
    for (;;) {
      try {
        const { quake } = await persevere(() =>
          this.#stores.transact(stores, (drafts) => rateEvent(drafts, reviewer, verdict, Date.now()), {
            stepId: stepIds.rate(reviewer, turn),
          }),
        );
        return quake;
      } catch (error) {
        if (error instanceof NotAllowed) throw error;
        await this.#view.problem(error); // The verdict is kept and sent again: the person wrote a note.
      }
    }
  }

  /** Tells the person what the second reviewer decides, whenever that is. One wait for each event. */
  #awaitDecision(eventId: string): void {
    if (this.#awaited.has(eventId)) return;
    this.#awaited.add(eventId);
    this.#decision(eventId)
      .catch((error: unknown) => this.#view.problem(error))
      .finally(() => this.#awaited.delete(eventId));
  }

  async #decision(eventId: string): Promise<void> {
    const quake = this.#stores.store(Earthquake, eventId);
    const decided = ({ review }: { readonly review: Readonly<Review> }) => review.status !== "awaiting-approval";
    await this.waits.show("when", "a second reviewer’s approval", quake, decided, quake.when(decided));
    const { facts, review } = (await quake.get()).state;
    const approved = review.status === "final";
    reportActivity({ type: "answered", reviewer: this.#reviewer.id, eventId, approved });
    this.#view.tell(`${facts?.place ?? eventId}: your rating was ${approved ? "approved" : "declined"}.`);
  }
}
