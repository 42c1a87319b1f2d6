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
 * H5  Commits of a group are one transaction, and none is answered before its COMMIT. If that fails, nothing of it stands
 *     and they run again alone, in order, each answered from its record or receipt should it have been applied after all.
 */
import type {
  ChangesReading,
  AppliedStep,
  CommitOutcome,
  CommitRequest,
  StoreReading,
  WaiterOutcome,
  Wake,
} from "../src/protocol/connector.js";
import {
  ClosedError,
  InvalidArgumentError,
  OutcomeUnknownError,
  ProtocolViolationError,
} from "../src/protocol/errors.js";
import type { StoreEvent } from "../src/protocol/events.js";
import type { CallNumber, StoreMethod } from "../src/protocol/wire.js";
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
import { applyCommit, type CommitResult, type Tables } from "./commit.js";
import type { Database } from "./database.js";
import { createLedger } from "./ledger.js";
import { beginEpoch } from "./meta.js";
import { migrate } from "./migrations.js";
import { createSessionRecords, type SessionRecords } from "./session-records.js";
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
  /** The first owner of a database is numbered above this; default 0. */
  readonly firstEpoch?: number;
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
   * @param sent which call of its client it is; omitted: it is never sent again, and leaves no record for that
   * @throws WakefulError of every kind that the storage and the request give rise to; nothing was written then
   */
  call(session: string, method: StoreMethod, body: unknown, sent?: CallNumber): unknown;
  /** Runs commits, of any sessions, as one group (H5). Answers one outcome or failure for each, in their order. */
  commitAll(calls: readonly CommitCall[]): readonly Settled[];
  /** The session's client is gone, as far as is known: gives back what it has claimed. */
  endSession(session: string): void;
  /** The session's client asks about none of its commits any more. */
  removeSession(session: string): void;
  /** Removes what ended more than `milliseconds` ago and is not alive now. */
  removeEndedSessions(milliseconds: number, isAlive: (session: string) => boolean): void;
  /** Sessions of which no owner knows that they ended. */
  standingSessions(): readonly string[];
  setChangesLimit(limit: number): void;
  /** Later calls throw ClosedError. Leaves the database open. Idempotent. */
  close(): void;
}

/** One commit of one session. */
export interface CommitCall {
  readonly session: string;
  readonly body: unknown;
  readonly sent?: CallNumber | undefined;
}

export type Settled =
  | { readonly status: "done"; readonly value: CommitOutcome }
  | { readonly status: "failed"; readonly error: unknown };

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
  readonly #sessions: SessionRecords;
  readonly #claims = new Claims();
  #closed = false;

  constructor(database: Database, options: StoreHostOptions) {
    this.#database = database;
    this.#clock = options.clock;
    this.#publish = options.publish;
    const changesLimit = checkChangesLimit(options.changesLimit ?? DEFAULT_CHANGES_LIMIT);
    ({ databaseId: this.databaseId, epoch: this.epoch } = beginEpoch(database, {
      heardOf: options.epoch ?? 0,
      first: options.firstEpoch ?? 0,
    }));
    this.#tables = {
      stores: createStores(database),
      ledger: createLedger(database),
      waiters: createWaiters(database),
      wakes: createWakes(database),
      changes: createChanges(database, changesLimit),
    };
    this.#sessions = createSessionRecords(database);
  }

  head(): number {
    return this.#tables.changes.head();
  }

  setChangesLimit(limit: number): void {
    this.#tables.changes.setLimit(checkChangesLimit(limit));
  }

  call(session: string, method: StoreMethod, body: unknown, sent?: CallNumber): unknown {
    this.#throwIfClosed();
    switch (method) {
      case "readStore":
        return this.#readStore(body);
      case "commit":
        return this.#commit({ session, body, sent });
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

  commitAll(calls: readonly CommitCall[]): readonly Settled[] {
    this.#throwIfClosed();
    const checked = calls.map((call) => attempt(() => ({ call, request: checkCommitRequest(call.body) })));
    const group = checked.flatMap((each) => (each.status === "done" ? [each.value] : []));
    let results: readonly CommitResult[] | null = null;
    if (group.length > 1) {
      const now = this.#clock();
      const together = attempt(() => this.#write(() => group.map((each) => this.#apply({ ...each, now }))));
      if (together.status === "done") {
        results = together.value;
        this.#announce(results);
      }
    }
    // Alone: a group of one, or one that failed, whose COMMIT may have been applied after all (H5).
    const wasTried = group.length > 1;
    let next = 0;
    return checked.map((each): Settled => {
      if (each.status === "failed") return each;
      const result = results?.[next++];
      if (result !== undefined) return { status: "done", value: result.outcome };
      const { call } = each.value;
      return attempt(() => this.#commit(wasTried ? sentAgain(call) : call));
    });
  }

  endSession(session: string): void {
    if (this.#closed) return;
    this.#announceWakes(this.#tables.wakes.standing(this.#claims.releaseAll(session)));
    const now = this.#clock();
    this.#write(() => this.#sessions.end(session, now));
  }

  removeSession(session: string): void {
    this.#throwIfClosed();
    this.#write(() => this.#sessions.remove(session));
  }

  removeEndedSessions(milliseconds: number, isAlive: (session: string) => boolean): void {
    if (this.#closed) return;
    const before = this.#clock() - milliseconds;
    this.#write(() => this.#sessions.removeEnded(before, isAlive));
  }

  standingSessions(): readonly string[] {
    return this.#sessions.standing();
  }

  close(): void {
    this.#closed = true;
  }

  #readStore(body: unknown): StoreReading {
    const key = checkStoreKey(body);
    return { sequence: this.head(), snapshot: this.#tables.stores.read(key) };
  }

  #commit(call: CommitCall): CommitOutcome {
    const request = checkCommitRequest(call.body);
    const now = this.#clock();
    const result = this.#write(() => this.#apply({ call, request, now }));
    this.#announce([result]);
    return result.outcome;
  }

  /** Call it inside a transaction. */
  #apply({ call, request, now }: CheckedCommit & { readonly now: number }): CommitResult {
    const { session } = call;
    // A receipt answers for an operation with a step, and longer; only what has none needs the session's record.
    const sent = request.operations.some(({ step }) => step === undefined) ? call.sent : undefined;
    if (sent !== undefined && this.#sessions.isSettled(session, sent.number)) {
      throw new ProtocolViolationError("A message arrived again after its call was settled. Nothing was written.");
    }
    if (sent !== undefined && sent.attempt !== "first") {
      const sequence = this.#sessions.find(session, sent.number);
      if (sequence !== undefined) return { outcome: { status: "committed", sequence }, changes: [], woken: [] };
      if (sent.attempt === "returning" && !this.#sessions.has(session)) throw outcomeUnknown();
    }
    const result = applyCommit(this.#tables, request, { origin: session, now });
    if (sent !== undefined && result.outcome.status === "committed") {
      this.#sessions.record(session, sent.number, sent.acknowledged, result.outcome.sequence);
    }
    return result;
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

  /** One event for all, so that a group costs its listeners as much as one commit. */
  #announce(results: readonly CommitResult[]): void {
    const changes = results.flatMap((result) => result.changes);
    if (changes.length > 0) this.#publish({ type: "commit", epoch: this.epoch, changes });
    this.#announceWakes([...new Set(results.flatMap(({ woken }) => woken))]);
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new ClosedError("This owner has closed: ask the next one.");
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
      this.#sessions.reload();
    } catch {
      // The database cannot be read either. What failed first is thrown; this owner is of no more use.
      this.close();
    }
  }
}

interface CheckedCommit {
  readonly call: CommitCall;
  readonly request: CommitRequest;
}

function sentAgain(call: CommitCall): CommitCall {
  return call.sent?.attempt === "first" ? { ...call, sent: { ...call.sent, attempt: "again" } } : call;
}

function attempt<T>(
  work: () => T,
): { readonly status: "done"; readonly value: T } | { readonly status: "failed"; readonly error: unknown } {
  try {
    return { status: "done", value: work() };
  } catch (error) {
    return { status: "failed", error };
  }
}

function outcomeUnknown(): OutcomeUnknownError {
  return new OutcomeUnknownError(
    "This page was away for so long that its session was removed, and a write that it had sent before may or may not have been applied: read the store to find out.",
  );
}

function checkChangesLimit(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new InvalidArgumentError(`The limit of the change feed must be an integer from 1, but it is ${limit}.`);
}
