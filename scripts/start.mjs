/** `npm start`: the demo, built as its users would get it, on a machine that may have nothing installed yet. */
import { join } from "node:path";
import { must, repository } from "./run.mjs";

await must(["node", "scripts/install.mjs", "--no-browsers"]);
await must(["node", "scripts/build.mjs"]);

const { build, preview } = await import("vite");
const settings = { root: join(repository, "demo"), logLevel: "warn" };
await build(settings);
const server = await preview({ ...settings, preview: { host: "localhost", port: Number(process.env.PORT ?? 4173) } });
console.log(`\nThe demo is at ${server.resolvedUrls.local[0]}\nOpen it in two tabs. Ctrl+C ends it.`);
