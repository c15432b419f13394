/**
 * Milliseconds since the epoch that neither jump nor run backwards when somebody sets this machine's clock. The
 * difference to the store's clock is learned anyway, so only that it runs evenly matters.
 */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
