/** The wakes of an in-memory database, in the order in which they were requested last, and who has claimed them. */
import type { ReadWakesRequest, Wake } from "../protocol/connector.js";
import { checkExecutionId, checkPage } from "./memory-requests.js";

interface ClaimableWake extends Wake {
  readonly claimedBy: string | null;
}

export class MemoryWakes {
  readonly #wakes = new Map<string, ClaimableWake>();
  readonly #now: () => number;
  /** One count for all executions, so that a generation acknowledged late can never be that of a newer wake. */
  #generation = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  request({ workflowId, executionId }: Pick<Wake, "workflowId" | "executionId">): void {
    this.#generation += 1;
    const claimedBy = this.#wakes.get(executionId)?.claimedBy ?? null;
    this.#wakes.delete(executionId);
    const requestedAt = this.#now();
    this.#wakes.set(executionId, { workflowId, executionId, generation: this.#generation, requestedAt, claimedBy });
  }

  read({ limit, claim }: ReadWakesRequest, session: string): readonly Wake[] {
    checkPage(limit);
    const wakes = [...this.#wakes.values()]
      .filter((wake) => !claim || wake.claimedBy === null || wake.claimedBy === session)
      .slice(0, limit);
    if (claim) for (const wake of wakes) this.#claim(wake, session);
    return wakes.map(({ claimedBy: _, ...wake }) => wake);
  }

  /** Answers the executions whose wakes can be claimed again. */
  acknowledge(request: { readonly executionId: string; readonly generation: number }, session: string): string[] {
    checkExecutionId(request.executionId);
    const wake = this.#wakes.get(request.executionId);
    // Requested again meanwhile: whoever is free next may have the newer one.
    if (wake?.generation !== request.generation) return this.release(request.executionId, session);
    this.#wakes.delete(request.executionId);
    return [];
  }

  /** Answers the executions whose wakes can be claimed again. */
  release(executionId: string, session: string): string[] {
    checkExecutionId(executionId);
    const wake = this.#wakes.get(executionId);
    if (wake?.claimedBy !== session) return [];
    this.#claim(wake, null);
    return [executionId];
  }

  /** Answers the executions whose wakes can be claimed again. */
  releaseAll(session: string): string[] {
    return [...this.#wakes.keys()].flatMap((executionId) => this.release(executionId, session));
  }

  /** What the next owner finds: claims were made at the owner before it. */
  dropClaims(): void {
    for (const wake of this.#wakes.values()) this.#claim(wake, null);
  }

  remove(executionId: string): void {
    this.#wakes.delete(executionId);
  }

  #claim(wake: ClaimableWake, claimedBy: string | null): void {
    this.#wakes.set(wake.executionId, { ...wake, claimedBy });
  }
}
