/** Random programs for the model test of the client: what several lanes of two clients do, and what goes wrong meanwhile. */
import * as fc from "fast-check";

/** A step of an execution, both by number. */
export interface ProgramStep {
  readonly execution: number;
  readonly key: number;
}

export type StoreName = "a" | "b";

export type Command =
  | { readonly type: "get" | "delete" | "when" | "wait-take" | "wait-durably"; readonly store: StoreName }
  | {
      readonly type: "update" | "put" | "take" | "delete-from";
      readonly store: StoreName;
      readonly step: ProgramStep | null;
    }
  | {
      readonly type: "update-from";
      readonly store: StoreName;
      readonly step: ProgramStep | null;
      /** On the snapshot that this lane read last, which may be behind, instead of one read just now. */
      readonly stale: boolean;
    }
  | { readonly type: "transact"; readonly step: ProgramStep | null }
  | { readonly type: "forget"; readonly execution: number }
  | { readonly type: "restart" };

/** What happens to a commit on its way: nothing, or the owner is lost before or after it was applied. */
export type Fault = "none" | "before" | "after";

export interface Program {
  /** Two for each client; the commands of one lane follow one another. */
  readonly lanes: readonly (readonly Command[])[];
  /** For each commit that is sent, in order; after the last: none. */
  readonly faults: readonly Fault[];
  /** For each delivery of an event, in order, whether it gets lost; after the last: no. */
  readonly losses: readonly boolean[];
}

const store = fc.constantFrom<StoreName>("a", "a", "a", "b");
const step = fc.option(fc.record({ execution: fc.nat(1), key: fc.nat(1) }), { freq: 2 });

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant("get" as const), store }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constantFrom("update" as const, "put" as const), store, step }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("update-from" as const), store, step, stale: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("take" as const), store, step }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("when" as const, "wait-take" as const), store }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("wait-durably" as const), store }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete-from" as const), store, step }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete" as const), store }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("transact" as const), step }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("forget" as const), execution: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("restart" as const) }) },
);

export const programs: fc.Arbitrary<Program> = fc.record({
  lanes: fc.array(fc.array(command, { maxLength: 5 }), { minLength: 4, maxLength: 4 }),
  faults: fc.array(fc.constantFrom<Fault>("none", "none", "none", "before", "after"), { maxLength: 12 }),
  losses: fc.array(fc.boolean(), { maxLength: 24 }),
});
