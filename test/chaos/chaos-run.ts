/**
 * One run: tabs under load, disturbed at random until the owner or another tab has gone as often as was asked for.
 *
 * Owns: the browser, the tabs, what they wrote down. Does not own: the verdict (check-history.ts).
 *
 * R1  Every call is written down here before it is made; what a tab did not live to hear is known as that.
 * R2  Before each disturbance the tabs have made progress: a run that stands still ends as a hung one.
 */
import type { BrowserContext, Page } from "@playwright/test";
import { DatabaseTabs, type Profile } from "../../src/testing/index.js";
import type { Enlisted } from "./app/main.js";
import type { History } from "./check-history.js";
import { disturbances } from "./disturbances.js";
import { type Begin, type Entry, unitOf } from "./entries.js";
import { type Random, randomFrom } from "./random.js";

export interface ChaosOptions {
  readonly url: string;
  readonly kills: number;
  /** At most so many tabs at a time, at least three. */
  readonly tabs: number;
  readonly seed: number;
}

export interface ChaosResult {
  readonly history: History;
  /** What was done, in order, for a run that fails. */
  readonly actions: readonly string[];
  /** Milliseconds from the departure of an owner to the first acknowledgement of a later one. */
  readonly handOvers: readonly number[];
  /** How often each disturbance came to which end. */
  readonly done: ReadonlyMap<string, number>;
}

const LOOPS = 3;
/** Milliseconds without an acknowledgement after which a run stands still. */
const STANDSTILL = 45_000;
/** Acknowledgements between two disturbances. */
const PROGRESS = 6;

export class ChaosRun {
  readonly #profile: Profile;
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #name = `chaos-${crypto.randomUUID()}`;
  readonly #entries: Entry[] = [];
  readonly #actions: string[] = [];
  readonly #handOvers: number[] = [];
  readonly #departures: { readonly at: number; readonly epoch: number }[] = [];
  readonly #done = new Map<string, number>();
  readonly #started = Date.now();
  #acknowledged = 0;
  #epoch = 0;
  #enlisted = 0;
  #loops = LOOPS;
  #look = (): void => undefined;
  #tools: DatabaseTabs | null = null;
  #pages: Page[] = [];

  constructor(profile: Profile, options: ChaosOptions) {
    this.#profile = profile;
    this.#options = options;
    this.#random = randomFrom(options.seed);
  }

  /** What was done so far, for a run that does not come to its end. */
  get actions(): readonly string[] {
    return this.#actions;
  }

  async run(): Promise<ChaosResult> {
    const { kills, tabs } = this.#options;
    await this.#prepare();
    for (let departures = 0; departures < kills; ) {
      const wanted = this.#random.between(3, Math.max(3, tabs));
      while (this.#pages.length < wanted) this.#pages.push(await this.#open());
      await this.#untilAcknowledged(PROGRESS);
      if (await this.#disturb()) departures += 1;
    }
    await this.#untilAcknowledged(PROGRESS);
    return { history: await this.#settle(), actions: this.#actions, handOvers: this.#handOvers, done: this.#done };
  }

  async #prepare(): Promise<void> {
    const { context } = this.#profile;
    await this.#bind(context);
    this.#tools = await DatabaseTabs.in(context, {
      name: this.#name,
      url: this.#options.url,
      ready: (page) => page.locator("html[data-ready=true]").waitFor({ state: "attached" }),
    });
  }

  async #bind(context: BrowserContext): Promise<void> {
    await context.exposeFunction("record", (entry: Entry) => this.#note(entry));
    await context.exposeFunction("enlist", (): Enlisted => {
      this.#enlisted += 1;
      const { seed } = this.#options;
      return {
        tab: `t${this.#enlisted}`,
        seed: seed * 1009 + this.#enlisted,
        name: this.#name,
        loops: this.#loops,
        mostlyReads: this.#enlisted % 3 === 0,
      };
    });
  }

  #note(entry: Entry): void {
    this.#entries.push(entry);
    if (entry.type === "begin" || entry.type === "woken") return;
    if (entry.type === "end" && entry.outcome.kind !== "failed") this.#acknowledged += 1;
    if (entry.type === "end" && entry.outcome.kind !== "failed") {
      const now = Date.now();
      for (const departure of this.#departures.splice(0)) {
        if (entry.epoch > departure.epoch) {
          this.#handOvers.push(now - departure.at);
          this.#say(
            `handed over to epoch ${entry.epoch} after ${now - departure.at} ms, as ${entry.tab} was told first`,
          );
        } else this.#departures.push(departure);
      }
    }
    this.#epoch = Math.max(this.#epoch, entry.epoch);
    this.#look();
  }

  get #database(): DatabaseTabs {
    if (this.#tools === null) throw new Error("The browser is not prepared.");
    return this.#tools;
  }

  async #open(): Promise<Page> {
    const page = await this.#database.open();
    page.on("pageerror", (error) => this.#say(`a page threw ${error.message}`));
    return page;
  }

  #say(action: string): void {
    this.#actions.push(`${String(Date.now() - this.#started).padStart(7)} ms  ${action}`);
  }

  /** Answers whether a tab, or its worker, has gone. */
  async #disturb(): Promise<boolean> {
    const kinds = disturbances[this.#profile.browserName] ?? {};
    const weights = Object.fromEntries(Object.entries(kinds).map(([kind, { weight }]) => [kind, weight]));
    const kind = this.#random.weighted(weights);
    const disturbance = kinds[kind];
    const owner = await this.#database.owner();
    const page = this.#random.next() < 0.7 ? owner : this.#random.pick(this.#pages);
    if (disturbance === undefined) return false;
    const isOwner = page === owner;
    const session = this.#database.sessionOf(page);
    this.#say(
      `${kind} ${isOwner ? "the owner" : "a tab"} (session ${session}), ${this.#pages.length} tabs, epoch ${this.#epoch}`,
    );
    const departed = (): void => {
      // When the whole browser goes there is nobody to hand over to.
      if (isOwner && kind !== "killBrowser") this.#departures.push({ at: Date.now(), epoch: this.#epoch });
    };
    const target = { tabs: this.#database, profile: this.#profile, page, random: this.#random };
    const aftermath = await disturbance.run(target, departed);
    const done = `${kind}${aftermath === "same" ? "" : `, ${aftermath}`}`;
    this.#done.set(done, (this.#done.get(done) ?? 0) + 1);
    if (aftermath === "gone") this.#pages = this.#pages.filter((one) => one !== page);
    if (aftermath === "all-gone") {
      this.#pages = [];
      await this.#prepare();
    }
    return disturbance.departs;
  }

  async #untilAcknowledged(count: number): Promise<void> {
    const enough = this.#acknowledged + count;
    await this.#within(STANDSTILL, "nothing was acknowledged", async () => {
      while (this.#acknowledged < enough) {
        await new Promise<void>((resolve) => {
          this.#look = resolve;
        });
      }
    });
  }

  async #within(milliseconds: number, otherwise: string, task: () => Promise<void>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`For ${milliseconds} ms ${otherwise}.`)), milliseconds);
    });
    await Promise.race([task(), late]).finally(() => clearTimeout(timer));
  }

  /** Ends the load, makes the calls with a step again whose tab died, and reads everything. */
  async #settle(): Promise<History> {
    const live: string[] = [];
    const hung: string[] = [];
    for (const [index, page] of this.#pages.entries()) {
      const stopped = page.evaluate(() => window.chaos.stop()).then((tab) => void live.push(tab));
      await this.#within(STANDSTILL, "a tab did not stop", () => stopped).catch((error: unknown) => {
        hung.push(`tab ${index} of the last ones: ${String(error)}`);
      });
    }
    this.#loops = 0;
    const reader = await this.#open();
    await reader.evaluate((begins) => window.chaos.repeat(begins), this.#unsettledSteps());
    const { counts, queues } = await reader.evaluate(() => window.chaos.finals());
    const feed = await this.#database.changes();
    return { entries: this.#entries, feed, counts, queues, live, hung };
  }

  #unsettledSteps(): Begin[] {
    const begins = new Map<string, Begin>();
    const ofCalls = new Map<string, string>();
    for (const entry of this.#entries) {
      if (entry.type === "begin" && entry.step !== null) {
        begins.set(unitOf(entry), entry);
        ofCalls.set(`${entry.tab}/${entry.call}`, unitOf(entry));
      } else if (entry.type === "end") begins.delete(ofCalls.get(`${entry.tab}/${entry.call}`) ?? "");
    }
    return [...begins.values()];
  }
}
