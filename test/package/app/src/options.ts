/** What the app opens its stores with. */
import type { OpenStoresOptions } from "wakeful";

export const options: OpenStoresOptions = { name: "notes" };
