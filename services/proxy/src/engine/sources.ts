import { randomBytes, randomUUID } from 'node:crypto';

/** Beyond it the wall clock was set, and is followed. */
const MAX_DRIFT_MS = 20;

export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

export function randomUuid(): string {
  return randomUUID();
}

/** Milliseconds since the epoch with a fraction: the wall clock, between its ticks the monotonic one. */
export function wallClock(): () => number {
  let offset = performance.timeOrigin;
  return () => {
    const precise = offset + performance.now();
    const coarse = Date.now();
    if (Math.abs(precise - coarse) <= MAX_DRIFT_MS) return precise;
    offset += coarse - precise;
    return coarse;
  };
}
