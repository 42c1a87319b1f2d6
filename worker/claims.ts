/**
 * Which session is delivering which wake. In memory only: when the owner goes, the claims go, and a wake may be
 * delivered twice, which waking allows; a claim that outlived its session would lose it, which waking does not.
 */
export class Claims {
  readonly #holders = new Map<string, string>();

  /** Whether `session` may have the wake: nobody holds it, or the session itself does. */
  isFree(executionId: string, session: string): boolean {
    const holder = this.#holders.get(executionId);
    return holder === undefined || holder === session;
  }

  hold(executionId: string, session: string): void {
    this.#holders.set(executionId, session);
  }

  /** Ends the claim of `session`. Answers whether it had one. */
  release(executionId: string, session: string): boolean {
    return this.#holders.get(executionId) === session && this.#holders.delete(executionId);
  }

  /** Ends whoever's claim. */
  drop(executionId: string): void {
    this.#holders.delete(executionId);
  }

  /** Ends all claims of `session` and answers whose wakes they were. */
  releaseAll(session: string): string[] {
    const released: string[] = [];
    for (const [executionId, holder] of this.#holders) if (holder === session) released.push(executionId);
    for (const executionId of released) this.#holders.delete(executionId);
    return released;
  }
}
