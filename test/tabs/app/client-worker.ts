/** A worker of the app, or its service worker, as a client: it opens the database, counts up, and says what came of it. */
import { z } from "zod";
import { defineStore, openStores, WakefulError } from "../../../src/index.js";

const Counter = defineStore("counter", z.object({ count: z.number() }), { initial: () => ({ count: 0 }) });

export interface ClientRequest {
  readonly name: string;
  readonly id: string;
}

async function run({ name, id }: ClientRequest): Promise<unknown> {
  try {
    const stores = await openStores({ name, ownerTimeout: 2000 });
    const { state } = await stores.store(Counter, id).update((draft) => void draft.count++);
    await stores.close();
    return state.count;
  } catch (error) {
    return error instanceof WakefulError ? error.code : String(error);
  }
}

addEventListener("message", (event: MessageEvent<ClientRequest>) => {
  const [port] = event.ports;
  void run(event.data).then((outcome) => port?.postMessage(outcome));
});
