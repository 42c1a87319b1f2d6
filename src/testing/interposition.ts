/**
 * What is put between an app's page and the platform, before any script of the app runs.
 *
 * Owns, in each page: the workers that wakeful started, and the rules for messages on its BroadcastChannels.
 * Does not own: workers and channels of the app, which are left alone.
 *
 * I1  Workers and channels stay the platform's own: they are watched, and messages are held back, never imitated.
 * I2  Without a rule every message passes as it is, in the same task.
 * I3  A message that is dropped or delayed at its receiver is so for that page alone.
 */
import type { BrowserContext, Page } from "@playwright/test";

/** What to do with messages on BroadcastChannels. MessagePorts, by which calls travel once they can, are not touched. */
export interface Interference {
  /** "events": what the owner tells every tab. "calls": what goes between one tab and the owner. Default: both. */
  readonly channel?: "events" | "calls";
  /** As the page sees it. Default: both. */
  readonly direction?: "sent" | "received";
  /** Types of event messages: "hello", "owner", "commit", "wake", "storage", "refusal". Default: all. */
  readonly types?: readonly string[];
  /** Milliseconds by which a message is late; omitted: it is dropped. */
  readonly delay?: number;
  /** After so many messages it ends. Default: never. */
  readonly times?: number;
}

/** What a page reports of itself. */
export interface WorkerStarted {
  readonly name: string;
  readonly session: string;
}

interface StandingRule extends Interference {
  readonly id: number;
  readonly name: string;
  left: number;
}

interface Interposed {
  /** By database name: the worker of this page that was started last. */
  readonly workers: Map<string, Worker>;
  readonly rules: StandingRule[];
  /** Messages dropped or delayed. */
  held: number;
}

/** The page's window as this file leaves it, which is what the casts below say. */
type ReportingWindow = Window & {
  wakefulTesting?: Interposed;
  wakefulTestingReport?: (started: WorkerStarted) => Promise<void>;
};

/** Prepares every page that `context` opens from now on. `started` hears which session a page has. */
export async function interpose(
  context: BrowserContext,
  started: (page: Page, report: WorkerStarted) => void,
): Promise<void> {
  await context.exposeBinding("wakefulTestingReport", ({ page }, report: WorkerStarted) => started(page, report));
  await context.addInitScript(interposeInPage);
}

/** Ends the worker of a database for real, under a page that lives on. */
export async function terminateWorker(page: Page, name: string): Promise<void> {
  const found = await page.evaluate((database) => {
    const worker = (window as ReportingWindow).wakefulTesting?.workers.get(database);
    worker?.terminate();
    return worker !== undefined;
  }, name);
  if (!found)
    throw new Error(`This tab has no worker for "${name}": open it through these tools, and the database in it.`);
}

/** Applies a rule to a page until the function returned is called. */
export async function interfere(page: Page, name: string, rule: Interference): Promise<() => Promise<void>> {
  const id = await page.evaluate(
    ([database, given]) => {
      // Prepared by this file.
      const interposed = (window as ReportingWindow).wakefulTesting;
      if (interposed === undefined) return null;
      const standing = {
        ...given,
        id: interposed.rules.length + Math.random(),
        name: database,
        left: given.times ?? Infinity,
      };
      interposed.rules.push(standing);
      return standing.id;
    },
    [name, rule] as const,
  );
  if (id === null) throw new Error("This tab was not opened through these tools: its channels cannot be reached.");
  return () =>
    page.evaluate((ended) => {
      // Prepared by this file.
      const rules = (window as ReportingWindow).wakefulTesting?.rules ?? [];
      const at = rules.findIndex((standing) => standing.id === ended);
      if (at !== -1) rules.splice(at, 1);
    }, id);
}

/** How many messages the rules of this page have dropped or delayed. */
export function heldMessages(page: Page): Promise<number> {
  return page.evaluate(() => (window as ReportingWindow).wakefulTesting?.held ?? 0);
}

/** Runs in the page, as text: it can use nothing from outside. */
function interposeInPage(): void {
  if (window !== window.top) return;
  const interposed: Interposed = { workers: new Map(), rules: [], held: 0 };
  (window as ReportingWindow).wakefulTesting = interposed;

  const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === "object" && value !== null;

  window.Worker = new Proxy(Worker, {
    construct(target, args: [string | URL, WorkerOptions?], newTarget) {
      const worker: Worker = Reflect.construct(target, args, newTarget);
      if (args[1]?.name !== "wakeful") return worker;
      // Both of its forms at once: what follows the message is passed on as it came.
      const post = worker.postMessage.bind(worker) as (...given: unknown[]) => void;
      worker.postMessage = (message: unknown, ...rest: unknown[]) => {
        if (isRecord(message) && message["type"] === "start") {
          const { name, session } = message;
          if (typeof name === "string" && typeof session === "string") {
            interposed.workers.set(name, worker);
            // The tab may go while it reports: then nobody needs to know.
            (window as ReportingWindow).wakefulTestingReport?.({ name, session }).catch(() => undefined);
          }
        }
        post(message, ...rest);
      };
      return worker;
    },
  });

  /** The first rule that this message falls under. */
  function ruleFor(channel: string, direction: "sent" | "received", message: unknown): StandingRule | undefined {
    const rule = interposed.rules.find((candidate) => {
      const events = `wakeful:${candidate.name}`;
      const kind = channel === events ? "events" : channel.startsWith(`${events}:session:`) ? "calls" : undefined;
      const type = isRecord(message) ? message["type"] : undefined;
      return (
        candidate.left > 0 &&
        kind !== undefined &&
        (candidate.channel ?? kind) === kind &&
        (candidate.direction ?? direction) === direction &&
        (candidate.types?.includes(String(type)) ?? true)
      );
    });
    if (rule !== undefined) {
      rule.left -= 1;
      interposed.held += 1;
    }
    return rule;
  }

  window.BroadcastChannel = new Proxy(BroadcastChannel, {
    construct(target, args: [string], newTarget) {
      const channel: BroadcastChannel = Reflect.construct(target, args, newTarget);
      if (!channel.name.startsWith("wakeful:")) return channel;
      const late = new WeakSet<Event>();
      let open = true;
      // The first listener of all: what it stops, no other one hears.
      channel.addEventListener("message", (event) => {
        const rule = late.has(event) ? undefined : ruleFor(channel.name, "received", event.data);
        if (rule === undefined) return;
        event.stopImmediatePropagation();
        if (rule.delay === undefined) return;
        const { data, origin } = event;
        setTimeout(() => {
          const again = new MessageEvent("message", { data, origin });
          late.add(again);
          if (open) channel.dispatchEvent(again);
        }, rule.delay);
      });
      const post = channel.postMessage.bind(channel);
      channel.postMessage = (message: unknown) => {
        const rule = ruleFor(channel.name, "sent", message);
        if (rule === undefined) post(message);
        else if (rule.delay !== undefined) setTimeout(() => open && post(message), rule.delay);
      };
      const close = channel.close.bind(channel);
      channel.close = () => {
        open = false;
        close();
      };
      return channel;
    },
  });
}
