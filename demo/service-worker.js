/**
 * Keeps one build of the app whole: its files are fetched when it is installed and answered from the cache from then on.
 * A new build is installed beside it and takes over when the last tab of the old one is closed. The build fills in the
 * version and the files (offline-build.ts).
 */
const cacheName = "earthquake-desk __VERSION__";
const files = __FILES__;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(files)));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      const old = (await caches.keys()).filter((name) => name.startsWith("earthquake-desk ") && name !== cacheName);
      await Promise.all(old.map((name) => caches.delete(name)));
      await self.clients.claim(); // The page that installed it loads its wasm from here, too.
    })(),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  const wanted = request.mode === "navigate" ? "./" : request;
  event.respondWith(
    (async () => {
      const cache = await caches.open(cacheName);
      // A server may vary by Origin, which a module script sends and the installation did not; the file is the same.
      return (await cache.match(wanted, { ignoreSearch: true, ignoreVary: true })) ?? fetch(request);
    })(),
  );
});
