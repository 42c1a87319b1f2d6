/**
 * This client's position in the change feed.
 *
 * Owns: the sequence up to which every change was told on. Does not own: what is made of the changes.
 *
 * F1  Every change is told once, in the order of the commits and without a gap; or, when that cannot be had, `skipped`
 *     says up to where anything may have changed.
 * F2  Events are hints. One that does not join on to the position is not used: what is missing is read from the feed.
 * F3  While somebody waits, a lost event costs one sweep at most, also when it was the last one.
 */
import type { Clock } from "./clock.js";
import type { Change } from "./protocol/change.js";
import type { ChangesReading, StoreConnector } from "./protocol/connector.js";
import type { CommitEvent, OwnerEvent } from "./protocol/events.js";

/** Further behind than this, reading what is observed anew is cheaper than reading what happened. */
const MAX_CATCH_UP = 1000;

export interface ChangeListener {
  /** What follows the position, gapless. */
  changes(changes: readonly Change[]): void;
  /** Anything may have changed, up to `head`. */
  skipped(head: number): void;
  /** The database is another one. */
  replaced(): void;
}

export interface ChangeFollowerOptions {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly sweepInterval: number;
  /** Hears what goes wrong in the background. */
  readonly onError: (error: unknown) => void;
}

export class ChangeFollower {
  readonly #connector: StoreConnector;
  readonly #options: ChangeFollowerOptions;
  readonly #listeners = new Set<ChangeListener>();
  #position = -1;
  #start = -1;
  /** The newest sequence heard of. */
  #head = -1;
  #databaseId: string | undefined;
  #catchingUp: Promise<void> | undefined;
  #held = 0;
  #stopSweep: (() => void) | undefined;
  #chance: { readonly promise: Promise<void>; readonly take: () => void } | undefined;

  constructor(connector: StoreConnector, options: ChangeFollowerOptions) {
    this.#connector = connector;
    this.#options = options;
  }

  /** Every change up to here was told; -1 until anything is known. */
  get position(): number {
    return this.#position;
  }

  /** Where it began: changes up to here were never told. */
  get start(): number {
    return this.#start;
  }

  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Begins at `sequence`, as of which something was read, if it has not begun. */
  begin(sequence: number): void {
    if (this.#position < 0) this.#position = this.#start = sequence;
  }

  hearCommit({ changes }: CommitEvent): void {
    const last = changes.at(-1);
    if (last === undefined) return;
    this.begin((changes[0] ?? last).sequence - 1);
    this.#head = Math.max(this.#head, last.sequence);
    this.#tell(changes);
    if (this.#head > this.#position) void this.catchUp();
  }

  hearOwner({ databaseId, sequence }: OwnerEvent): void {
    const replaced = this.#databaseId !== undefined && this.#databaseId !== databaseId;
    this.#databaseId = databaseId;
    if (replaced) {
      this.#position = this.#start = this.#head = sequence;
      this.#catchingUp = undefined;
      for (const listener of this.#listeners) listener.replaced();
    } else {
      this.begin(sequence);
      this.#head = Math.max(this.#head, sequence);
      if (this.#head > this.#position) void this.catchUp();
    }
    this.#takeChance();
  }

  /** Reads what follows the position (F2). Never rejects: what fails is tried again at the next event or sweep. */
  catchUp(): Promise<void> {
    if (this.#position < 0) return Promise.resolve();
    const run: Promise<void> = (this.#catchingUp ??= this.#readOn()
      .catch(this.#options.onError)
      .finally(() => {
        if (this.#catchingUp === run) this.#catchingUp = undefined;
      }));
    return run;
  }

  /** Sweeps as long as the function returned was not called (F3). */
  hold(): () => void {
    this.#held += 1;
    this.#scheduleSweep();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#held -= 1;
      if (this.#held > 0) return;
      this.#stopSweep?.();
      this.#stopSweep = undefined;
    };
  }

  /** Resolves when what failed for want of an owner may be worth another try: at the next owner, or the next sweep. */
  chance(): Promise<void> {
    if (this.#chance === undefined) {
      let take = (): void => undefined;
      const promise = new Promise<void>((resolve) => {
        take = resolve;
      });
      this.#chance = { promise, take };
    }
    return this.#chance.promise;
  }

  async #readOn(): Promise<void> {
    const databaseId = this.#databaseId;
    do {
      const heard = this.#head;
      const reading = await this.#connector.readChanges({ after: this.#position, limit: MAX_CATCH_UP });
      if (databaseId !== this.#databaseId) return;
      this.#tellReading(reading);
      // The database knows better than an event does what its newest sequence is.
      if (this.#head === heard && reading.head < heard) this.#head = this.#position;
    } while (this.#head > this.#position);
  }

  #tellReading(reading: ChangesReading): void {
    if (reading.status === "read") this.#tell(reading.changes);
    if (this.#position >= reading.head) return;
    this.#position = reading.head;
    for (const listener of this.#listeners) listener.skipped(reading.head);
  }

  /** Tells those of `changes` that join on to the position. */
  #tell(changes: readonly Change[]): void {
    const after = this.#position;
    const next = changes.filter(({ sequence }) => {
      if (sequence > this.#position + 1) return false;
      this.#position = Math.max(this.#position, sequence);
      return sequence > after;
    });
    if (next.length > 0) for (const listener of this.#listeners) listener.changes(next);
  }

  #scheduleSweep(): void {
    const { clock, sweepInterval } = this.#options;
    this.#stopSweep ??= clock.after(sweepInterval, () => {
      this.#stopSweep = undefined;
      if (this.#held === 0) return;
      void this.catchUp();
      this.#takeChance();
      this.#scheduleSweep();
    });
  }

  #takeChance(): void {
    this.#chance?.take();
    this.#chance = undefined;
  }
}
