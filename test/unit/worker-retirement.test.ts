/** How a session hears that its owner gives up for a newer build. */
import { expect, test } from "vitest";
import { joinLinks, openCallLink } from "../../src/connection/call-link.js";
import { outdatedBuild } from "../../src/protocol/builds.js";
import { toWire } from "../../src/protocol/errors.js";
import type { CallRequest } from "../../src/protocol/wire.js";
import { CallQueue } from "../../worker/call-queue.js";
import { exposeCalls } from "../../worker/endpoint.js";

const commit = (number: number): CallRequest => ({
  session: "me",
  number,
  acknowledged: number,
  attempt: "first",
  epoch: 1,
  method: "commit",
  body: null,
});

function openQueue(): CallQueue {
  return new CallQueue({
    epoch: 1,
    run: () => null,
    commitAll: (calls) =>
      calls.map(() => ({ status: "done" as const, value: { status: "committed" as const, sequence: 1 } })),
    failed: () => true,
  });
}

test("tabs 13: an owner that gives up says so behind the replies to what it has just run", async () => {
  const queue = openQueue();
  const { port1, port2 } = new MessageChannel();
  const owner = exposeCalls(
    port1,
    { session: "me", epoch: 1 },
    (request) => {
      const reply = queue.call(request);
      // The newer build's hello comes while the commit waits for its turn.
      queue.close();
      owner.retire(toWire(outdatedBuild()));
      return reply;
    },
    () => undefined,
  );
  const heard: string[] = [];
  const retired = new Promise<void>((resolve) => {
    const listener = {
      drop: () => undefined,
      retire: () => {
        heard.push("retired");
        resolve();
      },
    };
    void openCallLink(port2, 1, listener)
      .call(commit(1))
      .then(({ status }) => heard.push(status));
  });
  await retired;
  owner.close();
  port2.close();
  expect(heard).toEqual(["done", "retired"]);
});

test("tabs 13: what was sent by two ways is known to be unapplied only when the owner has given up on both", async () => {
  const ways = ["fast", "slow"].map(() => {
    const { port1, port2 } = new MessageChannel();
    let hear = (): void => undefined;
    const retired = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const owner = exposeCalls(
      port1,
      { session: "me", epoch: 1 },
      () => new Promise(() => undefined),
      () => undefined,
    );
    return { owner, retired, link: openCallLink(port2, 1, { drop: () => undefined, retire: hear }) };
  });
  const [fast, slow] = ways;
  if (fast === undefined || slow === undefined) throw new Error("There are two.");
  const link = joinLinks(fast.link, slow.link);
  fast.owner.retire(toWire(outdatedBuild()));
  await fast.retired;
  expect([fast.link.isRetired, link.isRetired]).toEqual([true, false]);
  slow.owner.retire(toWire(outdatedBuild()));
  await slow.retired;
  expect(link.isRetired).toBe(true);
  link.close();
});
