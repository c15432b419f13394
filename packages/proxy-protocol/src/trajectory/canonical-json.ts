/**
 * The one text of a JSON value: no white space, members sorted by their names' UTF-16 code units, strings as
 * `JSON.stringify` writes them, and numbers by their exact decimal value, however they were written (`1`, `1.0`, `10e-1`
 * are one number). Values that JSON has no form for count as null in arrays and as absent in objects.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Number.isFinite(value) ? canonicalNumber(String(value)) : 'null';
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? String(value) : 'null';
  if (JSON.isRawJSON(value)) return canonicalNumber(value.rawJSON);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value as Readonly<Record<string, unknown>>)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number that a double holds exactly is written as JavaScript does, any other one as `-?<digits>e<exponent>`. */
function canonicalNumber(text: string): string {
  const exact = decimal(text);
  const asDouble = Number(text);
  if (!Number.isFinite(asDouble)) return exact;
  const short = String(asDouble === 0 ? 0 : asDouble);
  return decimal(short) === exact ? short : exact;
}

/** Without leading and trailing zeros; 0 for any zero. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = withoutTrailingZeros(digits);
  if (significant === '') return '0';
  return `${sign}${significant}e${String(BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length))}`;
}

/** A loop: a pattern would look at each run of zeros inside again and again. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
