/**
 * The page's side of exports, imports and integrity checks: slice after slice, each a call of its own, so that the calls
 * of every tab go on in between. Keeps one slice in memory.
 */
import { abortable, throwIfAborted } from "./abort.js";
import { StorageUnavailableError } from "./protocol/errors.js";
import { SLICE_BYTES, type TransferConnector } from "./protocol/transfer.js";
import type { StoreView } from "./store-view.js";

/** How far it is. */
export interface TransferProgress {
  /** `checking`: an import was read whole, and is checked before it replaces anything. */
  readonly stage: "reading" | "checking";
  /** While reading: bytes. While checking: parts. */
  readonly done: number;
  /** `null`: a stream does not tell. */
  readonly total: number | null;
}

export interface ExportOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: TransferProgress & { readonly sequence: number }) => void;
}

export interface ImportOptions {
  /** Honoured until the check is done; from then on the import ends with its real outcome. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: TransferProgress) => void;
}

export interface IntegrityOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

export type IntegrityReport =
  | { readonly status: "whole" }
  /** In SQLite's words. */
  | { readonly status: "damaged"; readonly problems: readonly string[] };

/** Milliseconds between two looks at whether another transfer is done. */
const BUSY_PAUSE = 250;

type Begun = { readonly transfer: string; readonly bytes: number; readonly sequence: number };

export function exportStores(
  view: StoreView,
  { signal, onProgress }: ExportOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let running: { readonly calls: TransferConnector; readonly begun: Begun } | undefined;
  let offset = 0;
  const end = async (): Promise<void> => {
    if (running !== undefined) await running.calls.endTransfer(running.begun.transfer);
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          running ??= await begin(view, "export", signal);
          const { calls, begun } = running;
          throwIfOver(view, signal);
          const bytes = await calls.readExport({ transfer: begun.transfer, offset });
          offset += bytes.length;
          onProgress?.({ stage: "reading", done: offset, total: begun.bytes, sequence: begun.sequence });
          controller.enqueue(bytes);
          if (offset < begun.bytes) return;
          await end();
          controller.close();
        } catch (error) {
          end().catch(() => undefined); // What failed first is what the reader gets.
          throw error;
        }
      },
      cancel: end,
    },
    // Nothing is read ahead: the export begins with its reader.
    { highWaterMark: 0 },
  );
}

export async function importStores(
  view: StoreView,
  source: Blob | ReadableStream<Uint8Array>,
  { signal, onProgress }: ImportOptions,
): Promise<void> {
  const { calls, begun } = await begin(view, "import", signal);
  const { transfer } = begun;
  const total = source instanceof Blob ? source.size : null;
  try {
    let offset = 0;
    for await (const bytes of slicesOf(source, signal)) {
      throwIfOver(view, signal);
      await calls.writeImport({ transfer, offset, bytes });
      offset += bytes.length;
      onProgress?.({ stage: "reading", done: offset, total });
    }
    await inParts(
      (part) => {
        throwIfOver(view, signal);
        return calls.checkImport({ transfer, part });
      },
      (done, parts) => onProgress?.({ stage: "checking", done, total: parts }),
    );
    throwIfOver(view, signal);
    await calls.finishImport(transfer);
  } catch (error) {
    calls.endTransfer(transfer).catch(() => undefined); // What failed first is what the caller gets.
    throw error;
  }
}

export async function checkStores(view: StoreView, { signal, onProgress }: IntegrityOptions): Promise<IntegrityReport> {
  const calls = transferOf(view);
  const problems = await inParts(
    (part) => {
      throwIfOver(view, signal);
      return calls.checkIntegrity(part);
    },
    (done, total) => onProgress?.({ done, total }),
  );
  return problems.length === 0 ? { status: "whole" } : { status: "damaged", problems };
}

async function inParts(
  check: (part: number) => ReturnType<TransferConnector["checkIntegrity"]>,
  report: (done: number, parts: number) => void,
): Promise<string[]> {
  const found: string[] = [];
  for (let part = 0; ; part++) {
    const { parts, problems } = await check(part);
    found.push(...problems);
    report(Math.min(part + 1, parts), parts);
    if (part + 1 >= parts) return found;
  }
}

/** Begins once no other transfer runs. */
async function begin(
  view: StoreView,
  kind: "export" | "import",
  signal: AbortSignal | undefined,
): Promise<{ readonly calls: TransferConnector; readonly begun: Begun }> {
  const calls = transferOf(view);
  for (;;) {
    throwIfOver(view, signal);
    const begun = await calls.beginTransfer(kind);
    if (begun.status === "begun") return { calls, begun };
    await new Promise<void>((resolve) => void view.clock.after(BUSY_PAUSE, resolve));
  }
}

function transferOf({ connector: { transfer } }: StoreView): TransferConnector {
  if (transfer !== undefined) return transfer;
  throw new StorageUnavailableError("These stores are not in a file: there is nothing to export, import or check.", {
    reason: "unsupported",
  });
}

/** The bytes of the source in slices of one size; the last one may be shorter. */
async function* slicesOf(
  source: Blob | ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = (source instanceof Blob ? source.stream() : source).getReader();
  let slice = new Uint8Array(SLICE_BYTES);
  let filled = 0;
  let isEmpty = true;
  try {
    for (;;) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) break;
      for (let from = 0; from < value.length; ) {
        const part = value.subarray(from, from + SLICE_BYTES - filled);
        slice.set(part, filled);
        from += part.length;
        filled += part.length;
        if (filled < SLICE_BYTES) continue;
        yield slice;
        isEmpty = false;
        slice = new Uint8Array(SLICE_BYTES);
        filled = 0;
      }
    }
    // An empty source is refused as what it is.
    if (filled > 0 || isEmpty) yield slice.slice(0, filled);
  } finally {
    // It may have ended already, or be stopped in the middle by a failure.
    await reader.cancel().catch(() => undefined);
  }
}

function throwIfOver(view: StoreView, signal: AbortSignal | undefined): void {
  throwIfAborted(view.closed);
  throwIfAborted(signal);
}
