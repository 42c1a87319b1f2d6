/** What a client tells its app beside the outcomes of calls. */
import type { Logger } from "./logger.js";
import {
  ClientOutdatedError,
  DatabaseNewerError,
  DefinitionOutdatedError,
  type WakefulError,
} from "./protocol/errors.js";
import type { OwnerEvent, StorageEvent } from "./protocol/events.js";
import type { StoreChange } from "./store-change.js";

export interface StoreEventMap {
  /** Commits of any tab, in the order of their sequence, each once. */
  readonly commit: { readonly changes: readonly StoreChange[] };
  /** A call of this client lost a race and runs again. */
  readonly conflict: { readonly storeName: string; readonly storeId: string; readonly lostRaces: number };
  /** Wakes were requested for these executions. */
  readonly wake: { readonly executionIds: readonly string[] };
  /** Another tab owns the database now. */
  readonly owner: OwnerEvent;
  /** Storage is not what it should be: nothing is durable, something is lost, it is full, or damaged. */
  readonly storage: StorageEvent;
  /** This code is older than the data or than another tab: reload the app. Said once. */
  readonly outdated: { readonly error: WakefulError };
  /** A state is so large that each commit, which rewrites it, is slow. `bytes` of UTF-8. */
  readonly slow: { readonly storeName: string; readonly storeId: string; readonly bytes: number };
  /** A failure that no call could report. */
  readonly error: { readonly error: unknown };
}

export type StoreEventType = keyof StoreEventMap;
export type StoreEventListener<Type extends StoreEventType> = (event: StoreEventMap[Type]) => void;

/**
 * The listeners of one client. Says nothing by itself: without listeners and logger an event is lost, but for what still
 * holds (who owns, what was lost, that nothing is durable), which is told to who listens later, too.
 */
export class StoreEvents {
  readonly #listeners = new Map<StoreEventType, Set<(event: never) => void>>();
  readonly #logger: Logger | undefined;
  /** How things stand. */
  readonly #standing: { -readonly [Type in "owner" | "storage"]?: StoreEventMap[Type] } = {};
  #outdated = false;

  constructor(logger?: Logger) {
    this.#logger = logger;
  }

  on<Type extends StoreEventType>(type: Type, listener: StoreEventListener<Type>): () => void {
    // Wrapped, so that one function passed twice is two listeners.
    const added = (event: StoreEventMap[Type]): void => listener(event);
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(added));
    // What stands under a type is an event of that type; for the other types nothing does.
    const standing = this.#standing[type as "owner" | "storage"] as StoreEventMap[Type] | undefined;
    if (standing !== undefined) queueMicrotask(() => listeners.has(added) && this.#tell(type, added, standing));
    return () => void listeners.delete(added);
  }

  /** `event` is only made when somebody listens or logs. */
  emit<Type extends StoreEventType>(type: Type, event: () => StoreEventMap[Type]): void {
    const listeners = [...(this.#listeners.get(type) ?? [])] as StoreEventListener<Type>[];
    const level = LEVELS[type];
    if (listeners.length === 0 && (this.#logger === undefined || level === undefined)) return;
    const made = event();
    if (level !== undefined) this.#logger?.[level](`wakeful: ${type}`, made);
    for (const listener of listeners) this.#tell(type, listener, made);
  }

  owner(event: OwnerEvent): void {
    this.#standing.owner = event;
    if (event.storage === "opfs" && this.#standing.storage?.status === "fallback") delete this.#standing.storage;
    this.emit("owner", () => event);
  }

  storage(event: StorageEvent): void {
    if (event.status === "fallback" || event.status === "lost") this.#standing.storage = event;
    this.emit("storage", () => event);
  }

  #tell<Type extends StoreEventType>(type: Type, listener: StoreEventListener<Type>, event: StoreEventMap[Type]): void {
    try {
      listener(event);
    } catch (error) {
      // A listener for errors that itself throws would be called for ever.
      if (type !== "error") this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.emit("error", () => ({ error }));
  }

  /** Tells the app to reload itself, once, if that is what `error` means. Answers whether it is. */
  isOutdated(error: unknown): boolean {
    const isOutdated =
      error instanceof DefinitionOutdatedError ||
      error instanceof ClientOutdatedError ||
      error instanceof DatabaseNewerError;
    if (isOutdated && !this.#outdated) {
      this.#outdated = true;
      this.emit("outdated", () => ({ error }));
    }
    return isOutdated;
  }
}

const LEVELS: { readonly [Type in StoreEventType]?: keyof Logger } = {
  conflict: "debug",
  owner: "debug",
  storage: "warn",
  outdated: "warn",
  slow: "warn",
  error: "error",
};
