/** Serves the files of a folder as any plain web server does, with the headers it is given. */
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

/** Answers the address and a function that ends the server. */
export async function serveFolder(folder, headers = {}) {
  const server = createServer((request, response) => {
    // A URL has its dots resolved, and what is encoded stays so: no path leads out of the folder.
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(folder, pathname === "/" ? "index.html" : pathname);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream", ...headers });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  return {
    url: `http://localhost:${server.address().port}/`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
