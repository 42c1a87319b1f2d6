/** An in-memory database whose traffic a test can count, hold back, lose and double. */
import type { StoreConnector } from "../../src/protocol/connector.js";
import type { StoreEvent } from "../../src/protocol/events.js";
import {
  type ConnectorCall,
  type MemoryConnectorDatabase,
  type MemoryConnectorOptions,
  openMemoryDatabase,
} from "./memory-connector.js";

export type CallMethod = ConnectorCall["method"];

/** What is to happen to the next calls that it fits. */
export interface Fault {
  readonly method: CallMethod;
  readonly session?: string;
  /** Before: the call never takes effect. After: it does, and its reply is lost. */
  readonly at: "before" | "after";
  /** Runs at that moment; rejecting fails the call with that error. */
  readonly act: () => void | Promise<void>;
  /** How many calls; default 1. */
  times?: number;
}

export interface ProbedDatabase extends MemoryConnectorDatabase {
  /** The methods called since `forget`, of one session or of all. */
  calls(session?: string): CallMethod[];
  /** Forgets the calls so far. */
  forget(): void;
  fault(fault: Fault): void;
  /** From now on, what `hears` answers false for is lost on its way to a session. */
  filterEvents(hears: (event: StoreEvent, session: string) => boolean | Promise<boolean>): void;
}

export function openProbedDatabase(options: Omit<MemoryConnectorOptions, "interleaving"> = {}): ProbedDatabase {
  const seen: ConnectorCall[] = [];
  const faults: Fault[] = [];
  let hears: (event: StoreEvent, session: string) => boolean | Promise<boolean> = () => true;

  async function strike(at: Fault["at"], call: ConnectorCall): Promise<void> {
    const index = faults.findIndex(
      (fault) => fault.at === at && fault.method === call.method && (fault.session ?? call.session) === call.session,
    );
    const fault = faults[index];
    if (fault === undefined) return;
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) faults.splice(index, 1);
    await fault.act();
  }

  const database = openMemoryDatabase({
    ...options,
    interleaving: {
      beforeCall: (call) => {
        seen.push(call);
        return strike("before", call);
      },
      afterCall: (call) => strike("after", call),
      beforeEvent: async (event, session) => hears(event, session),
    },
  });
  return {
    ...database,
    calls: (session) => seen.filter((call) => (session ?? call.session) === call.session).map(({ method }) => method),
    forget: () => void seen.splice(0),
    fault: (fault) => void faults.push({ ...fault }),
    filterEvents: (filter) => {
      hears = filter;
    },
  };
}

/** A promise and what settles it. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A connector that hears every event twice, and each second one late. */
export function stutteringConnector(connector: StoreConnector): StoreConnector {
  return {
    ...connector,
    subscribe: (listener) =>
      connector.subscribe((event) => {
        listener(event);
        listener(structuredClone(event));
        queueMicrotask(() => listener(structuredClone(event)));
      }),
  };
}
