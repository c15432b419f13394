const FIRST_MS = 250;
const LONGEST_MS = 5_000;

/** The wait before the next try after so many failures in a row: doubled each time, up to 5 s, and spread. */
export function backoffMs(failures: number, random: () => number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return whole * (0.5 + random() / 2);
}
