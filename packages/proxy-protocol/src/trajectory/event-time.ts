const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Nanoseconds since the epoch of an event's time; 0 for what is no time. */
export function unixNanos(time: string): bigint {
  const [, seconds, fraction = '', offset] = TIME.exec(time) ?? [];
  const ms = Date.parse(`${seconds ?? ''}${offset ?? ''}`);
  return Number.isNaN(ms) ? 0n : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/**
 * An event's time: UTC with microseconds, always in one width.
 *
 * @param at Milliseconds since the epoch, with a fraction.
 */
export function eventTime(at: number): string {
  const micros = Math.round(at * 1_000);
  const ms = Math.floor(micros / 1_000);
  const rest = String(micros - ms * 1_000).padStart(3, '0');
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}+00:00`;
}
