/** The error that `promise` rejects with. Taken at once, so that it may be looked at later. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It was expected to reject, and it resolved.");
}
