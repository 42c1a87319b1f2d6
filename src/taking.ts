/** Takes: one attempt, or waiting until one succeeds. */
import { abortable } from "./abort.js";
import { checkFunction } from "./check-arguments.js";
import type { CommitLoop } from "./commit-loop.js";
import type { Matched } from "./durable-type.js";
import { applyTake } from "./draft.js";
import { despiteOwnerLoss, nextChange, waitOn } from "./observation.js";
import type { StoredSnapshot } from "./protocol/connector.js";
import type { StorePath } from "./protocol/path.js";
import { stepRecord, takeResult } from "./receipts.js";
import type { StoreTake, TakeRequest } from "./store-client.js";
import { encodeValue } from "./stored-state.js";
import { baseState, creationOf, nextVersion, storeOf, writeOf, writtenState } from "./store-write.js";

interface Missed {
  readonly matched: false;
  /** On which it missed. */
  readonly snapshot: StoredSnapshot | null;
  readonly readPaths: readonly StorePath[];
  readonly instanceId: string;
  readonly version: number;
}

type Taken<R> = {
  readonly matched: true;
  readonly selected: Matched<R>;
  readonly instanceId: string;
  readonly version: number;
};

/** One attempt: takes what the selector finds, or tells what was read in vain. A missing store is created. */
export async function takeOnce<State, R>(loop: CommitLoop, request: TakeRequest<State, R>): Promise<StoreTake<R>> {
  const outcome = await attemptTake(loop, request, "create");
  if (outcome.matched) return outcome;
  const { readPaths, instanceId, version } = outcome;
  return { matched: false, readPaths, instanceId, version };
}

/** Waits until the selector matches, and takes what it found; "timed-out" at the deadline. */
export async function takeWhenMatched<State, R>(
  loop: CommitLoop,
  request: TakeRequest<State, R>,
  deadline: number | undefined,
): Promise<Taken<R> | "timed-out"> {
  const { definition, id, signal } = request;
  const { view } = loop;
  const options = { ...(signal === undefined ? {} : { signal }), ...(deadline === undefined ? {} : { deadline }) };
  return waitOn(view, { storeName: definition.name, storeId: id }, options, async (waiting) => {
    const { entry } = waiting;
    const attempt = { ...request, signal: waiting.signal };
    const wasKnown = entry.sequence >= 0;
    // After a try that was answered the commit itself would find a receipt. After one whose answer was lost the item may
    // be gone because this very take has it, and no commit would follow.
    let asksReceipts = true;
    for (let isFirst = true; ; isFirst = false) {
      const outcome = await despiteOwnerLoss(view, waiting, () => {
        const asks = asksReceipts;
        asksReceipts = true;
        return attemptTake(loop, attempt, "wait", asks);
      });
      asksReceipts = false;
      if (outcome.matched) return outcome;
      // What was cached may be behind; one reading, shared by all who begin to wait, makes it good.
      if (isFirst && wasKnown)
        await despiteOwnerLoss(view, waiting, () => abortable(view.readAnew(entry), waiting.signal));
      await nextChange(view, waiting, outcome.snapshot, outcome.readPaths);
    }
  });
}

function attemptTake<State, R>(
  loop: CommitLoop,
  { definition, id, selector, claim, stepId, signal }: TakeRequest<State, R>,
  ifMissing: "create" | "wait",
  asksReceipts = true,
): Promise<Taken<R> | Missed> {
  checkFunction("selector", selector);
  checkFunction("claim", claim);
  return loop.run<Taken<R> | Missed>({
    stores: [storeOf({ definition, id })],
    reading: "cached",
    signal,
    step: stepId,
    operation: "take",
    asksReceipts,
    // Who waits has all the time; it passes other takers by, and does not lose against them.
    ...(ifMissing === "wait" ? { maxLostRaces: Number.POSITIVE_INFINITY } : {}),
    repeat: ([recorded]) => recorded as Taken<R>, // What takeResult wrote.
    attempt: async ([base]) => {
      if (base === undefined) throw new RangeError("A take has one store.");
      const { snapshot } = base;
      const isAbsent = snapshot === null && ifMissing === "wait";
      const state: State = await (isAbsent ? loop.view.initialOf(definition, id) : baseState(definition, base));
      const taking = applyTake(state, selector, claim);
      if (!taking.matched) {
        const missed = { matched: false, snapshot, readPaths: taking.readPaths } as const;
        if (isAbsent) return { answer: { ...missed, instanceId: "", version: 0 } };
        if (snapshot !== null) {
          const answer = { ...missed, instanceId: snapshot.instanceId, version: snapshot.version };
          return ifMissing === "wait" ? { answer } : { answer, ifFresh: true };
        }
        const creation = await creationOf(definition, base);
        return { writes: [creation], result: { ...missed, instanceId: creation.after?.instanceId ?? "", version: 0 } };
      }
      const written = await writtenState(definition, state, taking);
      const next = nextVersion(base);
      const result = takeResult(encodeValue(taking.selected, "What was selected"), next.instanceId, next.version);
      return {
        writes: [
          writeOf(
            definition,
            base,
            next,
            written,
            stepRecord(stepId, "take", () => result),
          ),
        ],
        result: JSON.parse(result) as Taken<R>, // As a repeat would read it.
      };
    },
  });
}
