/** Repeats a call that has a step id for as long as repeating it is the right answer. */
import { OutcomeUnknownError, StoreChangedTooOftenError } from "wakeful";

/**
 * With a step id, a call whose outcome is unknown may simply be made again: if it was applied, its receipt answers. So
 * may one that lost too many races.
 */
export async function persevere<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const repeatable = error instanceof OutcomeUnknownError || error instanceof StoreChangedTooOftenError;
      if (!repeatable) throw error;
    }
  }
}
