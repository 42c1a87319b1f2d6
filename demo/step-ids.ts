/**
 * The step ids of everything that this app writes. A call that is repeated with the same one, by a reloaded page, after
 * the loss of the owner, or by two tabs at once, is applied once.
 */
import type { StepId } from "wakeful";

export const stepIds = {
  /** The same in every tab: whoever imports these events first, they are imported once. */
  importBatch: (firstEventId: string): StepId => ({ executionId: "import", stepKey: `from ${firstEventId}` }),

  take: (reviewer: string, turn: number): StepId => ({ executionId: `reviewer ${reviewer}`, stepKey: `take ${turn}` }),

  rate: (reviewer: string, turn: number): StepId => ({ executionId: `reviewer ${reviewer}`, stepKey: `rate ${turn}` }),

  /** `requester` and `turn` name the request: an event that was declined may be requested again. */
  decide: (reviewer: string, requester: string, turn: number): StepId => ({
    executionId: `reviewer ${reviewer}`,
    stepKey: `decide ${requester} ${turn}`,
  }),

  /** The same in every tab: any of them may do it, one does. */
  handBack: (reviewer: string, turn: number): StepId => ({ executionId: "hand back", stepKey: `${reviewer} ${turn}` }),
};
