/** Registers the service worker that keeps the built app, so that it opens without a network. */
export async function keepForOffline(tell: (state: string) => void): Promise<void> {
  if (!import.meta.env.PROD) return tell("in the built app only");
  if (!("serviceWorker" in navigator)) return tell("not supported here");
  try {
    await navigator.serviceWorker.register(new URL("service-worker.js", document.baseURI));
    await navigator.serviceWorker.ready; // Installed, and with that every file of the build is kept.
    tell("ready");
  } catch (error) {
    tell(`no: ${error instanceof Error ? error.message : String(error)}`);
  }
}
