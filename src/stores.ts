/// <reference lib="esnext.disposable" preserve="true" />
/** Stores: what an app holds. A StoreClient with the feeds, the events and an end. */
import { CasStoreClient, type StoreClientOptions } from "./cas-store-client.js";
import { type ChangesOptions, readChangeFeed } from "./change-feed.js";
import type { StoreDefinition } from "./define-store.js";
import type { StoreConnector } from "./protocol/connector.js";
import type { StorageReport } from "./protocol/events.js";
import type { CallRequest, StoreClient, StoreHandle, StoreStates, StoreUpdates, Transaction } from "./store-client.js";
import type { StoreChange } from "./store-change.js";
import type { StoreEventListener, StoreEventType } from "./store-events.js";
import {
  checkStores,
  type ExportOptions,
  exportStores,
  type ImportOptions,
  importStores,
  type IntegrityOptions,
  type IntegrityReport,
} from "./transfer.js";
import { type StoreWake, type WakeClaims, WakeFeed } from "./wakes.js";

export interface Stores extends StoreClient {
  /** Identifies this client: the `origin` of its changes, and the `host` of the owner if that is this tab. */
  readonly session: string;

  /**
   * One updater over several stores, in one commit: all or nothing.
   *
   * @example
   * await stores.transact({ order, stock }, (drafts) => {
   *   drafts.order.items.push(item);
   *   drafts.stock.left -= 1;
   * });
   */
  transact<States extends StoreStates>(
    stores: { readonly [Name in keyof States]: StoreHandle<States[Name]> },
    updater: Transaction<States>,
    options?: CallRequest,
  ): Promise<StoreUpdates<States>>;

  /** The ids of the stores that exist, ascending by their UTF-8 bytes. */
  list<State>(definition: StoreDefinition<State>): Promise<string[]>;

  /** Deletes the store, whatever it is. Idempotent. */
  delete<State>(definition: StoreDefinition<State>, id: string): Promise<void>;

  /**
   * Every change of every store, in the order of the commits, none left out and none twice. To go on later, keep the
   * sequence of the last commit that was dealt with whole. Ends with AbortedError or ClosedError.
   *
   * @throws ChangesTrimmedError while iterating, when changes after `after` are no longer kept
   */
  changes(options?: ChangesOptions): AsyncIterableIterator<StoreChange>;

  /**
   * Wakes that were requested for executions. Each goes to one tab; what is not acknowledged comes again. Ending the
   * iteration gives back what is not acknowledged.
   */
  wakes(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<StoreWake>;

  /** Where the data is, and whether it is durable. */
  storage(): Promise<StorageReport>;

  /**
   * The whole database as a SQLite file, as of one moment, while commits go on: everything that was committed before the
   * stream is first read from, nothing that was committed after. Until its end, or its cancellation, the database's log
   * grows with every commit: read it to its end without long pauses. The stream fails with TransferInterruptedError when
   * another tab has to take the database over, or when nobody has read from it for a minute; then begin again.
   *
   * @example
   * const file = await new Response(stores.export()).blob();
   */
  export(options?: ExportOptions): ReadableStream<Uint8Array<ArrayBuffer>>;

  /**
   * Replaces everything in the database by what an export holds, in one transaction, or changes nothing. The file is
   * checked whole before. Every tab hears of another owner, its waits and watches see the new content, and `changes()`
   * ends with ChangesTrimmedError.
   *
   * The replacement itself is one step, and no call of any tab is answered meanwhile: about 20 ms for each megabyte.
   *
   * @throws ImportRefusedError, DatabaseNewerError, StorageFullError, TransferInterruptedError, AbortedError: nothing was
   * changed; OutcomeUnknownError, OwnerUnresponsiveError: the owner did not answer, and it may have been done
   */
  import(source: Blob | ReadableStream<Uint8Array>, options?: ImportOptions): Promise<void>;

  /** Has SQLite check the whole database. It takes long, and calls go on in between. */
  checkIntegrity(options?: IntegrityOptions): Promise<IntegrityReport>;

  /**
   * Who owns, and that nothing is durable where that is so, is told to a new listener at once.
   *
   * @returns a function that stops it
   */
  on<Type extends StoreEventType>(type: Type, listener: StoreEventListener<Type>): () => void;

  /** Refuses new calls, ends what waits with ClosedError, lets the calls that were made finish. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Stores over any connector. `openStores` does this over a worker with SQLite; tests and other backends pass their own.
 *
 * @example
 * const stores = createStores(openMemoryDatabase().connect());
 */
export function createStores(connector: StoreConnector, options: StoresOptions = {}): Stores {
  return new ConnectorStores(connector, options);
}

export interface StoresOptions extends StoreClientOptions {
  /** For several clients that share one session. */
  readonly wakeClaims?: WakeClaims;
}

class ConnectorStores extends CasStoreClient implements Stores {
  readonly #wakes: WakeFeed;
  #closing: Promise<void> | undefined;

  constructor(connector: StoreConnector, options: StoresOptions) {
    super(connector, options);
    this.#wakes = new WakeFeed(this.loop.view, options.wakeClaims);
  }

  get session(): string {
    return this.loop.view.connector.session;
  }

  transact<States extends StoreStates>(
    stores: { readonly [Name in keyof States]: StoreHandle<States[Name]> },
    updater: Transaction<States>,
    options: CallRequest = {},
  ): Promise<StoreUpdates<States>> {
    return this.transactStores({ ...options, stores, updater });
  }

  list<State>(definition: StoreDefinition<State>): Promise<string[]> {
    return this.listStores(definition);
  }

  delete<State>(definition: StoreDefinition<State>, id: string): Promise<void> {
    return this.deleteStore({ definition, id });
  }

  changes(options: ChangesOptions = {}): AsyncIterableIterator<StoreChange> {
    return readChangeFeed(this.loop.view, options);
  }

  wakes({ signal }: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<StoreWake> {
    return this.#wakes.read(signal);
  }

  async storage(): Promise<StorageReport> {
    const { closed, connector } = this.loop.view;
    closed.throwIfAborted();
    return connector.storage();
  }

  export(options: ExportOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    return exportStores(this.loop.view, options);
  }

  import(source: Blob | ReadableStream<Uint8Array>, options: ImportOptions = {}): Promise<void> {
    return importStores(this.loop.view, source, options);
  }

  checkIntegrity(options: IntegrityOptions = {}): Promise<IntegrityReport> {
    return checkStores(this.loop.view, options);
  }

  on<Type extends StoreEventType>(type: Type, listener: StoreEventListener<Type>): () => void {
    return this.loop.view.events.on(type, listener);
  }

  override close(): Promise<void> {
    this.#closing ??= super.close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
