/**
 * The dedicated worker of this page: spawns it, speaks to it, notices when it dies.
 *
 * A worker that is terminated from outside sends no event. It therefore holds a Web Lock of its own as long as it
 * lives, and this side queues for that lock: being granted it means that the worker is gone.
 */
import { StorageUnavailableError } from "../protocol/errors.js";
import { type WorkerCommand, type WorkerNotice, workerLock } from "../protocol/wire.js";

export interface OwnWorkerOptions {
  readonly name: string;
  readonly session: string;
  readonly workerUrl: string | URL | undefined;
}

export interface OwnWorkerEvents {
  notice(notice: Exclude<WorkerNotice, { type: "stopped" }>): void;
  /** The script could not be loaded; nothing will ever answer. */
  broken(error: StorageUnavailableError): void;
  /** An error that nothing in the worker caught; it goes on. */
  uncaught(message: string): void;
  died(): void;
}

export interface OwnWorker {
  send(command: WorkerCommand, transfer?: Transferable[]): void;
  /** Resolves once the worker has closed the database and given its lock up, or after `within` milliseconds. */
  stop(within: number): Promise<void>;
  /** Stops watching and ends the worker at once, with all that it holds. */
  terminate(): void;
}

function spawn(workerUrl: string | URL | undefined): Worker {
  // The literal form below is what bundlers look for; a variable would hide the worker from them.
  return workerUrl === undefined
    ? new Worker(new URL("../../worker/main.js", import.meta.url), { type: "module", name: "wakeful" })
    : new Worker(workerUrl, { type: "module", name: "wakeful" });
}

/** Spawns the worker. It does nothing until it is sent `start`. */
export function startOwnWorker(options: OwnWorkerOptions, events: OwnWorkerEvents): OwnWorker {
  const { name, session, workerUrl } = options;
  const worker = spawn(workerUrl);
  const watch = new AbortController();
  let started = false;
  let onStopped = (): void => undefined;

  const watchLife = (): void => {
    navigator.locks
      .request(workerLock(name, session), { signal: watch.signal }, () => {
        if (watch.signal.aborted) return;
        onStopped(); // Whoever waits for it to stop need not wait longer.
        events.died();
      })
      .catch(() => undefined); // Rejects only when `terminate` aborts the request.
  };

  worker.addEventListener("message", ({ data }: MessageEvent<WorkerNotice>) => {
    if (watch.signal.aborted) return;
    if (data.type === "started" && !started) {
      started = true;
      watchLife();
    }
    if (data.type === "stopped") onStopped();
    else events.notice(data);
  });
  worker.addEventListener("error", (event) => {
    if (watch.signal.aborted) return;
    if (started) return events.uncaught(event.message);
    events.broken(
      new StorageUnavailableError(
        `The worker of wakeful could not be loaded${event.message ? ` (${event.message})` : ""}: check workerUrl, the bundler's output and the worker-src of the Content-Security-Policy.`,
        { reason: "failed" },
      ),
    );
  });

  return {
    send: (command, transfer = []) => worker.postMessage(command, transfer),
    stop(within) {
      if (!started) return Promise.resolve();
      return new Promise((resolve) => {
        const bound = setTimeout(resolve, within);
        onStopped = () => {
          clearTimeout(bound);
          resolve();
        };
        worker.postMessage({ type: "stop" } satisfies WorkerCommand);
      });
    },
    terminate() {
      watch.abort();
      worker.terminate();
    },
  };
}
