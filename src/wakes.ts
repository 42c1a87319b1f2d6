/** Wakes: durable requests that an execution be delivered again, claimed by this client. */
import type { Wake } from "./protocol/connector.js";

/** A wake that this client has claimed. */
export interface StoreWake extends Wake {
  /** The delivery is done. A wake that was requested meanwhile stays, and comes again. */
  acknowledge(): Promise<void>;
  /** The delivery failed: any client may claim the wake again. */
  release(): Promise<void>;
}
