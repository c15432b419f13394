/** Whoever waits hears of its failure; that nobody does is no failure of its own. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
