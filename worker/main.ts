/** The worker's entry: waits for the owner lock, and while it holds it, is the owner. */
import { toWire } from "../src/protocol/errors.js";
import { ownerLock, type WorkerCommand, type WorkerNotice, workerLock } from "../src/protocol/wire.js";
import { loadSqlite, type Sqlite } from "./database.js";
import { Owner, type StartCommand } from "./owner.js";

const tell = (notice: WorkerNotice): void => self.postMessage(notice);

let begun: { readonly start: StartCommand; readonly port: MessagePort } | null = null;
let owner: Owner | null = null;
let epoch = 0;
let seeking = false;
let giveUp: (() => void) | null = null;
const stop = new AbortController();

const load = ({ wasmUrl }: StartCommand): Promise<Sqlite> => loadSqlite(wasmUrl === null ? {} : { wasmUrl });

/** Ends this worker in the task after this one, so that replies still leave. Its page notices, and starts another. */
function end(): void {
  setTimeout(() => {
    owner?.close();
    self.close();
  });
}

/** Runs while the owner lock is held; when it returns, the lock is free. */
async function own(): Promise<void> {
  if (begun === null || stop.signal.aborted) return;
  try {
    owner = await Owner.open(await load(begun.start), begun.start, epoch, end);
  } catch (error) {
    return tell({ type: "failed", error: toWire(error) });
  }
  const released = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  tell(owner.begin(begun.port));
  if (!stop.signal.aborted) await released;
  owner.close();
  owner = null;
}

async function seek(name: string): Promise<void> {
  if (seeking || stop.signal.aborted) return;
  seeking = true;
  await navigator.locks.request(ownerLock(name), { signal: stop.signal }, own).catch(() => undefined);
  seeking = false;
  if (stop.signal.aborted) tell({ type: "stopped" });
}

self.addEventListener("message", ({ data, ports: [port] }: MessageEvent<WorkerCommand>) => {
  switch (data.type) {
    case "start":
      if (port === undefined) return;
      begun = { start: data, port };
      epoch = data.epoch;
      // Held until this worker is gone, which is how its page notices (own-worker.ts).
      void navigator.locks.request(workerLock(data.name, data.session), () => {
        tell({ type: "started" });
        return new Promise(() => undefined);
      });
      return void seek(data.name);
    case "heard":
      epoch = Math.max(epoch, data.epoch);
      return;
    case "warm":
      // Whoever takes over reports a failure to load; here it only was too early.
      return void (begun && load(begun.start).catch(() => undefined));
    case "link":
      if (port === undefined) return;
      if (owner === null) port.close();
      else owner.link(data.session, data.epoch, port);
      return;
    case "retry":
      return void (begun && seek(begun.start.name));
    case "stop":
      stop.abort();
      giveUp?.();
      if (!seeking) tell({ type: "stopped" });
  }
});
