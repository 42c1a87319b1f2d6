/**
 * The connector's calls on one open database: checks a request, runs it in a transaction where it writes, and says what
 * happened after that is durable. No SQL here.
 *
 * Owns: the tables' modules, the epoch, the claims of wakes. Does not own the database (whoever opened it closes it),
 * nor sessions and their links (owner.ts), nor how events travel (`publish`).
 *
 * H1  A call is one synchronous function: calls are linearizable in the order in which they arrive.
 * H2  What writes does so in one transaction; `publish` is called after COMMIT and never before, changes before wakes.
 * H3  After a transaction was rolled back, what modules keep in memory is read anew before the next call.
 * H4  A request is checked whole before anything is read or written.
 */
import type {
  ChangesReading,
  CommitOutcome,
  AppliedStep,
  StoreReading,
  WaiterOutcome,
  Wake,
} from "../src/protocol/connector.js";
import { ClosedError, InvalidArgumentError, ProtocolViolationError } from "../src/protocol/errors.js";
import type { StoreEvent } from "../src/protocol/events.js";
import type { StoreMethod } from "../src/protocol/wire.js";
import { createChanges } from "./changes.js";
import {
  checkAcknowledgement,
  checkAppliedStepRequest,
  checkChangesRequest,
  checkCommitRequest,
  checkExecutionId,
  checkListRequest,
  checkReadWakesRequest,
  checkRelease,
  checkStoreKey,
  checkWaiterRegistration,
} from "./check-request.js";
import { Claims } from "./claims.js";
import { applyCommit, type Tables } from "./commit.js";
import type { Database } from "./database.js";
import { createLedger } from "./ledger.js";
import { beginEpoch } from "./meta.js";
import { migrate } from "./migrations.js";
import { createStores } from "./stores.js";
import { createWaiters } from "./waiters.js";
import { createWakes } from "./wakes.js";

/** Changes that the feed keeps when no app says otherwise. */
const DEFAULT_CHANGES_LIMIT = 100_000;
/** Wakes read at once while looking for some that nobody has claimed. */
const WAKES_PAGE = 256;

export interface StoreHostOptions {
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Highest epoch heard of; this owner's is above it and above all that the database had. */
  readonly epoch?: number;
  /** How many changes the feed keeps at least; from 1. */
  readonly changesLimit?: number;
  /** Hears of commits and wakes, synchronously, after they are durable. Must not throw. */
  readonly publish: (event: StoreEvent) => void;
}

export interface StoreHost {
  readonly epoch: number;
  readonly databaseId: string;
  /** Sequence of the newest commit. */
  head(): number;
  /**
   * Runs one call of a session and answers its outcome.
   *
   * @throws WakefulError of every kind that the storage and the request give rise to; nothing was written then
   */
  call(session: string, method: StoreMethod, body: unknown): unknown;
  /** Gives back what the session has claimed. */
  endSession(session: string): void;
  setChangesLimit(limit: number): void;
  /** Later calls throw ClosedError. Leaves the database open. Idempotent. */
  close(): void;
}

/**
 * Migrates the database and answers calls on it as its next owner.
 *
 * @throws DatabaseNewerError when a newer build migrated the database; nothing was written
 */
export function createStoreHost(database: Database, options: StoreHostOptions): StoreHost {
  migrate(database);
  return new DatabaseHost(database, options);
}

class DatabaseHost implements StoreHost {
  readonly epoch: number;
  readonly databaseId: string;
  readonly #database: Database;
  readonly #clock: () => number;
  readonly #publish: (event: StoreEvent) => void;
  readonly #tables: Tables;
  readonly #claims = new Claims();
  #closed = false;

  constructor(database: Database, options: StoreHostOptions) {
    this.#database = database;
    this.#clock = options.clock;
    this.#publish = options.publish;
    const changesLimit = checkChangesLimit(options.changesLimit ?? DEFAULT_CHANGES_LIMIT);
    ({ databaseId: this.databaseId, epoch: this.epoch } = beginEpoch(database, options.epoch ?? 0));
    this.#tables = {
      stores: createStores(database),
      ledger: createLedger(database),
      waiters: createWaiters(database),
      wakes: createWakes(database),
      changes: createChanges(database, changesLimit),
    };
  }

  head(): number {
    return this.#tables.changes.head();
  }

  setChangesLimit(limit: number): void {
    this.#tables.changes.setLimit(checkChangesLimit(limit));
  }

  call(session: string, method: StoreMethod, body: unknown): unknown {
    if (this.#closed) throw new ClosedError("This owner has closed: ask the next one.");
    switch (method) {
      case "readStore":
        return this.#readStore(body);
      case "commit":
        return this.#commit(session, body);
      case "getAppliedStoreStep":
        return this.#getAppliedStep(body);
      case "listStores":
        return this.#listStores(body);
      case "readChanges":
        return this.#readChanges(body);
      case "registerWaiter":
        return this.#registerWaiter(body);
      case "readWakes":
        return this.#readWakes(session, body);
      case "acknowledgeWake":
        return this.#acknowledgeWake(session, body);
      case "releaseWake":
        return this.#releaseWake(session, body);
      case "forgetExecution":
        return this.#forgetExecution(body);
      default:
        throw new ProtocolViolationError(`There is no call "${String(method satisfies never)}".`);
    }
  }

  endSession(session: string): void {
    if (!this.#closed) this.#announceWakes(this.#tables.wakes.standing(this.#claims.releaseAll(session)));
  }

  close(): void {
    this.#closed = true;
  }

  #readStore(body: unknown): StoreReading {
    const key = checkStoreKey(body);
    return { sequence: this.head(), snapshot: this.#tables.stores.read(key) };
  }

  #commit(session: string, body: unknown): CommitOutcome {
    const request = checkCommitRequest(body);
    const context = { origin: session, now: this.#clock() };
    const { outcome, changes, woken } = this.#write(() => applyCommit(this.#tables, request, context));
    if (changes.length > 0) this.#publish({ type: "commit", epoch: this.epoch, changes });
    this.#announceWakes(woken);
    return outcome;
  }

  #getAppliedStep(body: unknown): AppliedStep {
    const request = checkAppliedStepRequest(body);
    return this.#tables.ledger.applied(request, request);
  }

  #listStores(body: unknown): readonly string[] {
    const { storeName, after = "", limit } = checkListRequest(body);
    return this.#tables.stores.list(storeName, after, limit);
  }

  #readChanges(body: unknown): ChangesReading {
    const { after, limit } = checkChangesRequest(body);
    return this.#tables.changes.read(after, limit);
  }

  #registerWaiter(body: unknown): WaiterOutcome {
    const registration = checkWaiterRegistration(body);
    const now = this.#clock();
    const { stores, ledger, waiters, wakes } = this.#tables;
    const outcome = this.#write((): WaiterOutcome => {
      const applied = ledger.applied(registration, registration);
      if (applied.status === "execution-forgotten") return applied;
      // A duplicate of a step whose result another run has recorded waits for nothing any more: the execution has to
      // find that result, and a waiter left behind would wake it for ever (stores 13).
      const recorded = applied.status === "already-applied";
      if (!recorded) waiters.register(registration);
      const head = stores.head(registration);
      const unchanged =
        head?.instanceId === registration.instanceId && head.version <= registration.sinceVersion && !recorded;
      if (unchanged) return { status: "registered" };
      wakes.request(registration, now);
      return { status: "woken" };
    });
    if (outcome.status === "woken") this.#announceWakes([registration.executionId]);
    return outcome;
  }

  #readWakes(session: string, body: unknown): readonly Wake[] {
    const { limit, claim } = checkReadWakesRequest(body);
    if (!claim) return this.#tables.wakes.read(0, limit);
    const claimed: Wake[] = [];
    let after = 0;
    for (;;) {
      const page = this.#tables.wakes.read(after, WAKES_PAGE);
      for (const wake of page) {
        if (!this.#claims.isFree(wake.executionId, session)) continue;
        this.#claims.hold(wake.executionId, session);
        claimed.push(wake);
        if (claimed.length === limit) return claimed;
      }
      if (page.length < WAKES_PAGE) return claimed;
      after = page.at(-1)?.generation ?? after;
    }
  }

  #acknowledgeWake(session: string, body: unknown): void {
    const { executionId, generation } = checkAcknowledgement(body);
    const removed = this.#write(() => this.#tables.wakes.acknowledge(executionId, generation));
    if (removed) this.#claims.drop(executionId);
    // The wake was requested again while it was being delivered: whoever listens may have the newer one.
    else if (this.#claims.release(executionId, session)) {
      this.#announceWakes(this.#tables.wakes.standing([executionId]));
    }
  }

  #releaseWake(session: string, body: unknown): void {
    const { executionId } = checkRelease(body);
    if (!this.#claims.release(executionId, session)) return;
    this.#announceWakes(this.#tables.wakes.standing([executionId]));
  }

  #forgetExecution(body: unknown): void {
    const executionId = checkExecutionId(body);
    const now = this.#clock();
    this.#write(() => {
      this.#tables.ledger.forget(executionId, now);
      this.#tables.waiters.removeExecution(executionId);
      this.#tables.wakes.remove(executionId);
    });
    this.#claims.drop(executionId);
  }

  #announceWakes(executionIds: readonly string[]): void {
    if (executionIds.length > 0) this.#publish({ type: "wake", epoch: this.epoch, executionIds });
  }

  #write<T>(work: () => T): T {
    try {
      return this.#database.transaction(work);
    } catch (error) {
      this.#reload(); // H3
      throw error;
    }
  }

  #reload(): void {
    try {
      this.#tables.changes.reload();
      this.#tables.waiters.recount();
    } catch {
      // The database cannot be read either. What failed first is thrown; this owner is of no more use.
      this.close();
    }
  }
}

function checkChangesLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new InvalidArgumentError(`The limit of the change feed must be an integer from 1, but it is ${limit}.`);
}
