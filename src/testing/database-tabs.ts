/**
 * The tabs of an app that have one database open: who owns it, and every way in which a tab goes.
 *
 * Owns: which session each tab has, and the observer. Does not own: the browser (profile.ts), nor the app.
 *
 * T1  A tab goes for real: its process is killed, its worker terminated. Nothing is told to the library beforehand.
 * T2  Whoever waits here waits for a condition, within a bound, and says at the end of it what did not come.
 */
import type { BrowserContext, Page } from "@playwright/test";
import type { StoreKey } from "../protocol/change.js";
import type { Change } from "../protocol/change.js";
import type { AppliedStep, StepId, StoredSnapshot, Wake } from "../protocol/connector.js";
import { processOf } from "./browser-processes.js";
import { DatabaseObserver, type DatabaseState } from "./database-observer.js";
import { heldMessages, type Interference, interfere, interpose, terminateWorker } from "./interposition.js";

export interface DatabaseTabsOptions {
  /** Name that the app opens its database with. */
  readonly name: string;
  /** Address of the app; other builds of it are opened by their own, on the same origin. */
  readonly url: string;
  /** Waits until the app in a tab is as a test needs it. Default: until the tab has the database open. */
  readonly ready?: (page: Page) => Promise<void>;
}

/** Milliseconds that a wait lasts before it fails, where it is not told otherwise. */
const WAIT = 30_000;

export class DatabaseTabs {
  readonly #context: BrowserContext;
  readonly #options: DatabaseTabsOptions;
  readonly #sessions = new Map<Page, string>();
  readonly #gone = new Set<Page>();
  readonly #frozen = new Map<Page, number>();
  #observer: DatabaseObserver | null = null;

  private constructor(context: BrowserContext, options: DatabaseTabsOptions) {
    this.#context = context;
    this.#options = options;
  }

  /**
   * Prepares a browser. Call it before the app's first tab is opened, and again after a restart.
   *
   * @param context a persistent one (`openProfile`): others are incognito
   *
   * @example
   * const tabs = await DatabaseTabs.in(profile.context, { name: "my-app", url: "http://localhost:5173/" });
   * const [first, second] = await tabs.openMany(3);
   * await tabs.kill(await tabs.owner());
   * await tabs.untilOwner();
   */
  static async in(context: BrowserContext, options: DatabaseTabsOptions): Promise<DatabaseTabs> {
    const tabs = new DatabaseTabs(context, options);
    await interpose(context, (page, { name, session }) => {
      if (name === options.name) tabs.#sessions.set(page, session);
    });
    tabs.#observer = await DatabaseObserver.open(context, options.url, options.name);
    return tabs;
  }

  /** Opens a tab. `url` may be relative to that of the options: a path, a query, another build. */
  async open(url = ""): Promise<Page> {
    const page = await this.#context.newPage();
    page.on("crash", () => this.#gone.add(page));
    await page.goto(new URL(url, this.#options.url).href);
    if (this.#options.ready === undefined) await this.#until(() => this.#sessions.has(page), "a tab with the database");
    else await this.#options.ready(page);
    return page;
  }

  /** Opens several tabs, one after the other. */
  async openMany(count: number): Promise<Page[]> {
    const pages: Page[] = [];
    while (pages.length < count) pages.push(await this.open());
    return pages;
  }

  /** The session of a tab: what `stores.session` is there. Undefined before it has the database open. */
  sessionOf(page: Page): string | undefined {
    return this.#sessions.get(page);
  }

  /** The tab whose worker holds the owner lock, be it frozen or not. Waits until some tab does. */
  async owner(within: number = WAIT): Promise<Page> {
    let owner: Page | undefined;
    await this.#until(
      async () => {
        const session = await this.#watching.owningSession();
        owner = [...this.#sessions].find(([page, own]) => own === session && this.#isThere(page))?.[0];
        return owner !== undefined;
      },
      "an owner",
      within,
    );
    if (owner === undefined) throw new Error("No tab owns the database.");
    return owner;
  }

  /** How the database stands, as its owner says. @throws when no owner answers within `within` milliseconds */
  state(within?: number): Promise<DatabaseState> {
    return this.#watching.state(within);
  }

  /** Waits until an owner answers whose epoch is past `after`, which is that of an earlier `state`. */
  async untilOwner(after = 0, within: number = WAIT): Promise<DatabaseState> {
    let state: DatabaseState | undefined;
    await this.#until(
      async () => {
        const seen = await this.#watching.state(500).catch(() => undefined);
        if (seen !== undefined && seen.epoch > after) state = seen;
        return state !== undefined;
      },
      `an owner after epoch ${after}`,
      within,
    );
    if (state === undefined) throw new Error("No owner answered.");
    return state;
  }

  /** Waits until so many commits were made in the database. */
  async untilSequence(sequence: number, within: number = WAIT): Promise<void> {
    await this.#until(
      async () => ((await this.#watching.state(500).catch(() => undefined))?.sequence ?? 0) >= sequence,
      `sequence ${sequence}`,
      within,
    );
  }

  /** Waits until a wake of this execution stands, claimed or not. One that was acknowledged before is not seen. */
  async untilWake(executionId: string, within: number = WAIT): Promise<Wake> {
    let wake: Wake | undefined;
    await this.#until(
      async () => {
        wake = (await this.#watching.wakes()).find((one) => one.executionId === executionId);
        return wake !== undefined;
      },
      `a wake of ${executionId}`,
      within,
    );
    if (wake === undefined) throw new Error("There is no wake.");
    return wake;
  }

  /** A store as its owner has it, its state as text; `null` when it does not exist. Creates nothing. */
  async readStore(key: StoreKey): Promise<StoredSnapshot | null> {
    return (await this.#watching.readStore(key)).snapshot;
  }

  /** What is recorded of a step. */
  receipt(request: StoreKey & StepId): Promise<AppliedStep> {
    return this.#watching.receipt(request);
  }

  /** Every change of the database after a sequence, in the order of the commits. */
  changes(after = 0): Promise<readonly Change[]> {
    return this.#watching.changes(after);
  }

  /** Kills the process of a tab. Chromium only: in Firefox all tabs of an origin share one. */
  async kill(page: Page): Promise<void> {
    const pid = await processOf(page);
    const crashed = page.waitForEvent("crash");
    process.kill(pid, "SIGKILL");
    await crashed;
  }

  /** Lets the tab crash by itself, as running out of memory does. Chromium only. */
  async crash(page: Page): Promise<void> {
    const session = await this.#context.newCDPSession(page);
    const crashed = page.waitForEvent("crash");
    // Never answered: the tab is gone.
    session.send("Page.crash").catch(() => undefined);
    await crashed;
  }

  /** Closes the tab. Its pages hear of it (`pagehide`), as when a person closes it. */
  async close(page: Page): Promise<void> {
    this.#gone.add(page);
    await page.close({ runBeforeUnload: false });
  }

  /** Stops the process of a tab: it holds its locks and answers nothing. Chromium on Linux only. */
  async freeze(page: Page): Promise<void> {
    const pid = await processOf(page);
    process.kill(pid, "SIGSTOP");
    this.#frozen.set(page, pid);
  }

  /** Lets a frozen tab go on. */
  thaw(page: Page): void {
    const pid = this.#frozen.get(page);
    if (pid === undefined) return;
    this.#frozen.delete(page);
    process.kill(pid, "SIGCONT");
  }

  /** Ends the tab's worker under its page, which lives on. */
  terminateWorker(page: Page): Promise<void> {
    return terminateWorker(page, this.#options.name);
  }

  /** Goes to an empty page of the same origin. The page before may enter the back/forward cache. */
  async leave(page: Page): Promise<void> {
    await page.evaluate(() => {
      (window as Window & { wakefulTestingLeft?: boolean }).wakefulTestingLeft = true;
    });
    await page.goto(new URL("/wakeful-testing", this.#options.url).href);
  }

  /** Goes back after `leave`. Answers whether the page was restored as it was, or loaded anew. */
  async goBack(page: Page): Promise<{ readonly restored: boolean }> {
    // A restored page does not load again: waiting for that would never end.
    await page.goBack({ waitUntil: "commit" });
    const restored = await page.evaluate(
      () => (window as Window & { wakefulTestingLeft?: boolean }).wakefulTestingLeft === true,
    );
    return { restored };
  }

  /** Drops or delays messages on the BroadcastChannels of a tab, until the function returned is called. */
  interfere(page: Page, rule: Interference): Promise<() => Promise<void>> {
    return interfere(page, this.#options.name, rule);
  }

  /** How many messages `interfere` has dropped or delayed in a tab. */
  heldMessages(page: Page): Promise<number> {
    return heldMessages(page);
  }

  /** Bounds what the origin may store, in bytes; `null`: as the browser has it. Chromium only. */
  setQuota(bytes: number | null): Promise<void> {
    return this.#watching.setQuota(bytes);
  }

  /** Lets go of the browser, which stays open: frozen tabs go on, the observer's page is closed. */
  async end(): Promise<void> {
    for (const page of [...this.#frozen.keys()]) this.thaw(page);
    await this.#observer?.close();
    this.#observer = null;
  }

  get #watching(): DatabaseObserver {
    if (this.#observer === null) throw new Error("These tools were ended: prepare the browser again.");
    return this.#observer;
  }

  #isThere(page: Page): boolean {
    return !page.isClosed() && !this.#gone.has(page);
  }

  async #until(isSo: () => boolean | Promise<boolean>, what: string, within: number = WAIT): Promise<void> {
    const end = Date.now() + within;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`Within ${within} ms there was not ${what} in "${this.#options.name}".`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
