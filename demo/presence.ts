/**
 * Who else is here, and what those who left had in hand.
 *
 * E1  An event in the hand of a reviewer whose tab is gone for `GONE_AFTER` is handed back, by whichever open tab is
 *     first. A reload is shorter than that, so a reloaded reviewer finds its event where it was.
 */
import type { StoreHandle } from "wakeful";
import { reportActivity } from "./activity.js";
import { persevere } from "./persevere.js";
import type { QueueState } from "./queue.js";
import { handBack, NotAllowed } from "./review-rules.js";
import { presentReviewers } from "./reviewer.js";
import { stepIds } from "./step-ids.js";

/** Milliseconds between two looks at who is here. */
const LOOK_EVERY = 1000;
/** Milliseconds without a sign of its tab after which a reviewer is gone. */
const GONE_AFTER = 5000;

export interface PresenceOptions {
  readonly queue: StoreHandle<QueueState>;
  readonly onPresent: (reviewers: ReadonlySet<string>) => void;
  readonly onError: (error: unknown) => void;
}

export function watchPresence({ queue, onPresent, onError }: PresenceOptions): void {
  const missingSince = new Map<string, number>();

  const look = async (): Promise<void> => {
    const present = await presentReviewers();
    onPresent(present);
    const desks = queue.peek()?.state.desks ?? {};
    for (const [reviewer, desk] of Object.entries(desks)) {
      if (present.has(reviewer) || desk.holding === null) missingSince.delete(reviewer);
      else if (!missingSince.has(reviewer)) missingSince.set(reviewer, performance.now());
      else if (performance.now() - (missingSince.get(reviewer) ?? 0) >= GONE_AFTER) {
        missingSince.delete(reviewer);
        await giveBack(reviewer, desk.turn, desk.holding.eventId);
      }
    }
  };

  const giveBack = async (reviewer: string, turn: number, eventId: string): Promise<void> => {
    const stepId = stepIds.handBack(reviewer, turn);
    try {
      await persevere(() => queue.update((draft) => handBack(draft, reviewer, turn), { stepId }));
      reportActivity({ type: "handed-back", reviewer, turn, eventId });
    } catch (error) {
      if (!(error instanceof NotAllowed)) throw error; // Another tab, or the reviewer's own return, was faster.
    }
  };

  setInterval(() => void look().catch(onError), LOOK_EVERY);
  void look().catch(onError);
}
