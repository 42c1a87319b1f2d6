/** The handle of one store: which store it is, and nothing else. */
import type { CommitLoop } from "./commit-loop.js";
import type { StoreDefinition } from "./define-store.js";
import type { Matched } from "./durable-type.js";
import { watch, when } from "./observation.js";
import type { StoreKey } from "./protocol/change.js";
import { observedSnapshot } from "./snapshot.js";
import type {
  CallRequest,
  Claim,
  ObservedSnapshot,
  Selector,
  SnapshotReference,
  StoreClient,
  StoreDeleteFrom,
  StoreHandle,
  StoreSnapshot,
  StoreUpdate,
  StoreUpdateFrom,
  Updater,
  WaitOptions,
  WatchOptions,
} from "./store-client.js";
import { checkStepId } from "./receipts.js";
import { peekState } from "./stored-state.js";
import { takeWhenMatched } from "./taking.js";

export class CasStoreHandle<State> implements StoreHandle<State> {
  readonly definition: StoreDefinition<State>;
  readonly id: string;
  readonly #client: StoreClient;
  readonly #loop: CommitLoop;

  constructor(client: StoreClient, loop: CommitLoop, definition: StoreDefinition<State>, id: string) {
    this.#client = client;
    this.#loop = loop;
    this.definition = definition;
    this.id = id;
  }

  get #key(): StoreKey {
    return { storeName: this.definition.name, storeId: this.id };
  }

  get(): Promise<StoreSnapshot<State>> {
    return this.#client.getStore(this);
  }

  peek(): ObservedSnapshot<State> | undefined {
    const { view } = this.#loop;
    const entry = view.cache.find(this.#key);
    if (entry === undefined || entry.sequence < 0) return undefined;
    const { snapshot } = entry;
    const state = snapshot === null ? view.initialOf(this.definition, this.id) : peekState(this.definition, snapshot);
    // Not at hand: it has to pass an asynchronous schema or a migration first, which a reading does.
    if (state === undefined || state instanceof Promise) return undefined;
    return observedSnapshot<State>(state, snapshot);
  }

  update(updater: Updater<State>, options: CallRequest = {}): Promise<StoreUpdate<State>> {
    return this.#client.updateStore({ ...options, definition: this.definition, id: this.id, updater });
  }

  updateFrom(
    snapshot: SnapshotReference,
    updater: Updater<State>,
    options: CallRequest = {},
  ): Promise<StoreUpdateFrom<State>> {
    return this.#client.updateStoreFrom({ ...options, definition: this.definition, id: this.id, snapshot, updater });
  }

  deleteFrom(snapshot: SnapshotReference, options: CallRequest = {}): Promise<StoreDeleteFrom> {
    return this.#client.deleteStoreFrom({ ...options, definition: this.definition, id: this.id, snapshot });
  }

  take<R>(
    selector: Selector<State, R>,
    claim: Claim<State, R>,
    options: CallRequest & { readonly deadline: number },
  ): Promise<{ readonly status: "matched"; readonly selected: Matched<R> } | { readonly status: "timed-out" }>;
  take<R>(selector: Selector<State, R>, claim: Claim<State, R>, options?: CallRequest): Promise<Matched<R>>;
  async take<R>(
    selector: Selector<State, R>,
    claim: Claim<State, R>,
    { deadline, ...options }: CallRequest & { readonly deadline?: number } = {},
  ): Promise<unknown> {
    checkStepId(options.stepId);
    const request = { ...options, definition: this.definition, id: this.id, selector, claim };
    const outcome = await takeWhenMatched(this.#loop, request, deadline);
    if (outcome === "timed-out") return { status: "timed-out" };
    return deadline === undefined ? outcome.selected : { status: "matched", selected: outcome.selected };
  }

  when<R>(
    selector: Selector<State, R>,
    options: { readonly signal?: AbortSignal; readonly deadline: number },
  ): Promise<{ readonly status: "matched"; readonly value: Matched<R> } | { readonly status: "timed-out" }>;
  when<R>(selector: Selector<State, R>, options?: { readonly signal?: AbortSignal }): Promise<Matched<R>>;
  async when<R>(selector: Selector<State, R>, options: WaitOptions = {}): Promise<unknown> {
    const outcome = await when(this.#loop.view, this.definition, this.#key, selector, options);
    if (outcome === "timed-out") return { status: "timed-out" };
    return options.deadline === undefined ? outcome.value : { status: "matched", value: outcome.value };
  }

  watch<R>(
    selector: Selector<State, R>,
    callback: (value: R, snapshot: ObservedSnapshot<State>) => void,
    options: WatchOptions = {},
  ): () => void {
    return watch(this.#loop.view, this.definition, this.#key, selector, callback, options);
  }
}
