/** A page that is put away at an awkward moment. */
import { expect, test, vi } from "vitest";
import type { StoreEvent } from "../../src/protocol/events.js";
import { openConnection } from "../../src/connection/open-connection.js";
import { poolDirectory } from "../../src/protocol/pool-layout.js";
import { type CallReply, ownerLock, sessionLock, VERSIONS } from "../../src/protocol/wire.js";
import { openEventChannel, openSessionChannel } from "../../worker/channel.js";
import { exposeCalls } from "../../worker/endpoint.js";

/** An owner that tells of its storage and answers nothing else, as one that is busy does. */
async function holdBusyOwner(name: string): Promise<() => void> {
  const epoch = 1;
  const closing: (() => void)[] = [];
  await new Promise<void>((held) => {
    void navigator.locks.request(ownerLock(name), () => {
      held();
      return new Promise<void>((release) => closing.push(release));
    });
  });
  const channel = openEventChannel(name, {
    receive: (message) => {
      if (message.type !== "hello") return;
      const { session } = message;
      const link = exposeCalls(
        openSessionChannel(name, session),
        { session, epoch },
        ({ number, method }) =>
          new Promise<CallReply>((reply) => {
            if (method !== "describe") return;
            reply({ epoch, number, status: "done", value: { kind: "opfs", durability: "strict" } });
          }),
        () => undefined,
      );
      closing.push(() => link.close());
      channel.post({
        type: "owner",
        versions: VERSIONS,
        epoch,
        host: "elsewhere",
        databaseId: "one",
        sequence: 0,
        storage: { kind: "opfs", durability: "strict" },
        to: session,
      });
    },
    foreign: () => undefined,
    drop: () => undefined,
  });
  return () => {
    channel.close();
    for (const close of closing) close();
  };
}

test("tabs 3: a page that is put away while it closes gives its locks up at once", async () => {
  const name = `away-${crypto.randomUUID()}`;
  const release = await holdBusyOwner(name);
  const connector = await openConnection({ name, transport: "broadcast", ownerTimeout: 5000 });
  const call = connector.readStore({ storeName: "note", storeId: "a" });
  const ended = call.catch((error: unknown) => error);
  const closed = connector.close();
  dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
  // Whoever waits for the session to end gets its turn while the call is still in flight.
  const isFree = navigator.locks.request(
    sessionLock(name, connector.session),
    { signal: AbortSignal.timeout(4000) },
    () => true,
  );
  expect(await isFree).toBe(true);
  expect(await ended).toBeInstanceOf(Error);
  await closed;
  release();
});

test("tabs 3, tabs 6: a restored page whose worker could not be loaded tries again with the next call", async () => {
  const name = `away-${crypto.randomUUID()}`;
  const here = new URL("../../worker/main.ts", import.meta.url).href;
  const workerUrl = new URL(here);
  const connector = await openConnection({ name, workerUrl, ownerTimeout: 5000 });
  dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
  // As while a deployment replaces the files of the one before.
  workerUrl.href = new URL("/there-is-no-such-worker.js", here).href;
  const failed = new Promise<StoreEvent>((resolve) => {
    connector.subscribe((event) => event.type === "error" && resolve(event));
  });
  dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
  expect(await failed).toMatchObject({ error: { code: "storage-unavailable" } });
  workerUrl.href = here;
  expect(await connector.readStore({ storeName: "note", storeId: "a" })).toEqual({ sequence: 0, snapshot: null });
  await connector.close();
});

test("tabs 5, tabs 16: a restored page goes on with a database that took the place of an evicted one meanwhile", async () => {
  const name = `away-${crypto.randomUUID()}`;
  const options = { name, ownerTimeout: 5000 };
  await (await openConnection(options)).close();
  const away = await openConnection(options); // The second owner, so that counting from one would not reach it.
  dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
  await evict(name);
  const other = await openConnection(options);
  dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
  expect(await away.readStore({ storeName: "note", storeId: "a" })).toEqual({ sequence: 0, snapshot: null });
  await Promise.all([away.close(), other.close()]);
});

/** Takes a database away, as a browser does that wants its room. */
async function evict(name: string): Promise<void> {
  const segments = poolDirectory(name).split("/");
  const last = segments.pop() ?? "";
  let directory = await navigator.storage.getDirectory();
  for (const segment of segments) directory = await directory.getDirectoryHandle(segment);
  // As long as the worker that was ended just now has the files, they cannot be removed.
  await vi.waitFor(() => directory.removeEntry(last, { recursive: true }), 3000);
}
