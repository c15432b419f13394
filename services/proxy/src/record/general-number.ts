/** A number of seconds as C's `%g` prints it: six digits at most, no zeros at the end. */
export function generalNumber(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : 'nan';
  const [digits = '0', exponent = '0'] = value.toExponential(5).split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(value.toPrecision(6)));
  return `${String(Number(digits))}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
