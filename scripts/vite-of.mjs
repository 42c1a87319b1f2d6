/** An app's own Vite, not this repository's: builds it and serves it. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export async function viteOf(app) {
  const entry = join(app, "node_modules/vite/dist/node/index.js");
  const { build, createServer, preview } = await import(pathToFileURL(entry).href);
  const settings = { root: app, logLevel: "error" };
  const host = { host: "localhost", port: 0 };
  let running;
  return {
    build: () => build(settings),
    /** Serves what was built; answers the address. */
    async preview() {
      running = await preview({ ...settings, preview: host });
      return running.resolvedUrls.local[0];
    },
    /** Serves the sources; answers the address. */
    async dev() {
      running = await createServer({ ...settings, server: host });
      await running.listen();
      return running.resolvedUrls.local[0];
    },
    /** Ends the server that runs. */
    close: () => running.close(),
  };
}
