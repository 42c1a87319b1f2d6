/**
 * When a page is put away and when it comes back.
 *
 * A page in the back/forward cache, or frozen in the background, runs nothing but keeps its locks: another tab would wait
 * for it for as long as it sleeps. In workers there are none of these events, and nothing is heard.
 */
export function followPageLife({ away, back }: { readonly away: () => void; readonly back: () => void }): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  addEventListener("pagehide", away, { signal });
  addEventListener("pageshow", (event) => event.persisted && back(), { signal });
  if (typeof document !== "undefined") {
    // Chromium only; elsewhere a page is frozen without a word.
    document.addEventListener("freeze", away, { signal });
    document.addEventListener("resume", back, { signal });
  }
  return () => stop.abort();
}
