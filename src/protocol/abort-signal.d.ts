/**
 * The one platform type that the protocol names. Page, worker and Node each have it; the protocol is compiled with
 * the libraries of none of them, so that nothing else of theirs slips in. Not emitted: whoever imports the protocol
 * sees the AbortSignal of its own platform.
 */
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
  throwIfAborted(): void;
}
