/**
 * A session of its own on an app's database, from an empty page of the app's origin: it asks, and never writes.
 *
 * Owns: that page, and in it a session that speaks the protocol (src/protocol/wire.ts). Does not own: the app's tabs.
 *
 * O1  It never owns the database: it has no worker, so every tab of the app may go without it.
 * O2  What it reads is the owner's answer, never a cache.
 */
import type { BrowserContext, CDPSession, Page } from "@playwright/test";
import type { Change, StoreKey } from "../protocol/change.js";
import type { AppliedStep, ChangesReading, StepId, StoreReading, Wake } from "../protocol/connector.js";
import { fromWire } from "../protocol/errors.js";
import { MAX_PAGE } from "../protocol/limits.js";
import {
  type CallReply,
  type CallRequest,
  eventChannel,
  type HelloMessage,
  type OwnerMessage,
  ownerLock,
  sessionChannel,
  sessionLock,
  type StoreMethod,
  VERSIONS,
} from "../protocol/wire.js";

/** How the database stands, as its owner says. */
export interface DatabaseState {
  /** Ascends with every owner. */
  readonly epoch: number;
  /** Session of the tab that owns. */
  readonly host: string;
  /** Of the newest commit. */
  readonly sequence: number;
  /** Another one after the database was lost. */
  readonly databaseId: string;
  readonly storage: "opfs" | "memory";
}

interface Greeting {
  readonly hello: HelloMessage;
  readonly events: string;
  readonly lock: string;
}

/** Milliseconds for one answer of an owner. It covers a hand-over. */
const ANSWER_WITHIN = 10_000;
/** Milliseconds after which a reading is taken for lost with its owner, and is asked again. */
const ASK_AGAIN_AFTER = 1500;

export class DatabaseObserver {
  readonly #page: Page;
  readonly #name: string;
  readonly #session = `testing-${crypto.randomUUID()}`;
  #number = 0;
  #devTools: CDPSession | null = null;

  private constructor(page: Page, name: string) {
    this.#page = page;
    this.#name = name;
  }

  /** Opens the empty page on the origin of `url`. */
  static async open(context: BrowserContext, url: string, name: string): Promise<DatabaseObserver> {
    const address = new URL("/wakeful-testing", url).href;
    await context.route(address, (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><title>wakeful: observer</title>" }),
    );
    const page = await context.newPage();
    await page.goto(address);
    return new DatabaseObserver(page, name);
  }

  /** The session whose worker holds the owner lock, whether it answers or not; `null` when nobody holds it. */
  async owningSession(): Promise<string | null> {
    const prefix = sessionLock(this.#name, "").replace(":session:", ":worker:");
    return this.#page.evaluate(
      async ([owner, workers]) => {
        const { held = [] } = await navigator.locks.query();
        const holder = held.find(({ name }) => name === owner)?.clientId;
        if (holder === undefined) return null;
        // The worker that owns holds a lock of its own as well, which bears its session.
        const own = held.find(({ name, clientId }) => clientId === holder && name?.startsWith(workers));
        return own?.name?.slice(workers.length) ?? null;
      },
      [ownerLock(this.#name), prefix] as const,
    );
  }

  /** Asks the owner. @throws when none answers in time */
  async state(within: number = ANSWER_WITHIN): Promise<DatabaseState> {
    const owner = await this.#greet(within);
    if (owner === null) throw new Error(`No owner of "${this.#name}" answered within ${within} ms.`);
    const { epoch, host, sequence, databaseId, storage } = owner;
    return { epoch, host, sequence, databaseId, storage: storage.kind };
  }

  readStore(key: StoreKey): Promise<StoreReading> {
    return this.#call("readStore", key);
  }

  receipt(request: StoreKey & StepId): Promise<AppliedStep> {
    return this.#call("getAppliedStoreStep", request);
  }

  wakes(): Promise<readonly Wake[]> {
    return this.#call("readWakes", { limit: MAX_PAGE, claim: false });
  }

  /** Every change after `after` that is kept. */
  async changes(after: number): Promise<readonly Change[]> {
    const changes: Change[] = [];
    for (let from = after; ; ) {
      const reading = await this.#call<ChangesReading>("readChanges", { after: from, limit: MAX_PAGE });
      if (reading.status === "trimmed") throw new Error(`Changes before ${reading.oldest} are no longer kept.`);
      changes.push(...reading.changes);
      from = changes.at(-1)?.sequence ?? from;
      if (from >= reading.head) return changes;
    }
  }

  /** Bounds what the origin may store, in bytes; `null`: as the browser has it. Chromium only. */
  async setQuota(bytes: number | null): Promise<void> {
    // The override holds as long as the session that asked for it.
    this.#devTools ??= await this.#page.context().newCDPSession(this.#page);
    const { origin } = new URL(this.#page.url());
    await this.#devTools.send("Storage.overrideQuotaForOrigin", {
      origin,
      ...(bytes === null ? {} : { quotaSize: bytes }),
    });
  }

  async close(): Promise<void> {
    await this.#devTools?.detach();
    await this.#page.close();
  }

  #greet(within: number): Promise<OwnerMessage | null> {
    const greeting: Greeting = {
      hello: { type: "hello", versions: VERSIONS, session: this.#session, durability: "relaxed", changesLimit: null },
      events: eventChannel(this.#name),
      lock: sessionLock(this.#name, this.#session),
    };
    return this.#page.evaluate(greetInPage, [greeting, within] as const);
  }

  async #call<T>(method: StoreMethod, body: unknown): Promise<T> {
    const { epoch } = await this.state();
    this.#number += 1;
    const request: CallRequest = {
      session: this.#session,
      number: this.#number,
      acknowledged: this.#number,
      attempt: "first",
      epoch,
      method,
      body,
    };
    const reply = await this.#page.evaluate(callInPage, [
      sessionChannel(this.#name, this.#session),
      request,
      ASK_AGAIN_AFTER,
    ] as const);
    if (reply === null) return this.#call(method, body);
    if (reply.status === "failed") throw fromWire(reply.error);
    // Each method answers with the type that StoreConnector gives it.
    return reply.value as T;
  }
}

/** Runs in the page, as text: it can use nothing from outside. */
async function greetInPage([{ hello, events, lock }, within]: readonly [
  Greeting,
  number,
]): Promise<OwnerMessage | null> {
  const { held = [] } = await navigator.locks.query();
  if (!held.some(({ name }) => name === lock)) {
    // Held as long as this page lives: an owner takes a session without its lock for dead.
    await new Promise<void>((taken) => {
      void navigator.locks.request(lock, () => {
        taken();
        return new Promise(() => undefined);
      });
    });
  }
  const channel = new BroadcastChannel(events);
  let again: ReturnType<typeof setInterval> | undefined;
  try {
    return await new Promise((resolve) => {
      channel.addEventListener("message", ({ data }: MessageEvent<OwnerMessage>) => {
        if (data.type === "owner" && data.to === hello.session) resolve(data);
      });
      channel.postMessage(hello);
      again = setInterval(() => channel.postMessage(hello), 100);
      setTimeout(() => resolve(null), within);
    });
  } finally {
    clearInterval(again);
    channel.close();
  }
}

/** Runs in the page, as text. The frame around a call is Comlink's. */
function callInPage([name, request, within]: readonly [string, CallRequest, number]): Promise<CallReply | null> {
  const channel = new BroadcastChannel(name);
  const id = crypto.randomUUID();
  const reply = new Promise<CallReply | null>((resolve) => {
    channel.addEventListener("message", ({ data }: MessageEvent<{ id: string; value: CallReply }>) => {
      if (data.id === id && data.value !== undefined) resolve(data.value);
    });
    setTimeout(() => resolve(null), within);
  });
  channel.postMessage({ id, type: "APPLY", path: [], argumentList: [{ type: "RAW", value: request }] });
  return reply.finally(() => channel.close());
}
