/** `0.4 s`, `12 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `12,345`; what a provider did not say is `unknown`, not 0. */
export function tokens(count: number | null): string {
  return count === null ? 'unknown' : count.toLocaleString('en-US');
}

/** `1 turn`, `2 turns`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
