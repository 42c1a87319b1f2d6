/** What holds already when an app begins to listen: `openStores` has met the owner before anyone could. */
import { afterEach, describe, expect, test } from "vitest";
import { openStores } from "../../src/open-stores.js";
import type { StoreEventMap } from "../../src/store-events.js";
import type { Stores } from "../../src/stores.js";

const open = new Set<Stores>();

afterEach(async () => {
  for (const stores of open) await stores.close();
  open.clear();
});

async function openOne(name: string): Promise<Stores> {
  const stores = await openStores({ name });
  open.add(stores);
  return stores;
}

const ownerToldTo = (stores: Stores): Promise<StoreEventMap["owner"]> =>
  new Promise((resolve) => {
    const stop = stores.on("owner", (event) => {
      stop();
      resolve(event);
    });
  });

describe("stores.on", () => {
  test("tabs 25: a listener for the owner is told who owns now, and that it is this tab", async () => {
    const stores = await openOne(`standing-${crypto.randomUUID()}`);
    expect(await ownerToldTo(stores)).toMatchObject({ host: stores.session, storage: "opfs" });
    expect(await ownerToldTo(stores)).toMatchObject({ host: stores.session }); // And so is the next one.
  });

  test("tabs 25: a listener that was stopped at once is told nothing", async () => {
    const stores = await openOne(`standing-${crypto.randomUUID()}`);
    let told = 0;
    stores.on("owner", () => {
      told += 1;
    })();
    await ownerToldTo(stores); // The fence: it was added later, and told in its turn.
    expect(told).toBe(0);
  });

  test("tabs 20: a page's second client meets the owner, too", async () => {
    const name = `standing-${crypto.randomUUID()}`;
    const [first, second] = [await openOne(name), await openOne(name)];
    expect((await ownerToldTo(second)).epoch).toBe((await ownerToldTo(first)).epoch);
  });
});
