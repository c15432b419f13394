const DIGITS = 6;

/** Seconds in at most six significant digits, without needless zeros: `600s`, `0.5s`, `1e+06s`. */
export function secondsText(ms: number): string {
  return `${shortNumber(ms / 1000)}s`;
}

function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : String(value);
  const [mantissa = '', exponent = '0'] = value.toExponential(DIGITS - 1).split('e');
  const power = Number(exponent);
  if (power >= -4 && power < DIGITS) return withoutZeros(value.toFixed(DIGITS - 1 - power));
  const digits = String(Math.abs(power)).padStart(2, '0');
  return `${withoutZeros(mantissa)}e${power < 0 ? '-' : '+'}${digits}`;
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/u, '') : text;
}
