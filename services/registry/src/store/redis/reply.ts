/** Replies of our own scripts are arrays of known shape; these say so where it turns out otherwise. */

export function asArray(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError(`Redis answered ${typeof value} in place of an array`);
}

export function asNumber(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw new TypeError(`Redis answered ${typeof value} in place of a number`);
}

export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`Redis answered ${typeof value} in place of a text`);
}

/** The fields of a stream entry or hash that came as names and values in turn. */
export function asFields(value: unknown): ReadonlyMap<string, string> {
  const flat = asArray(value);
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(asText(flat[i]), asText(flat[i + 1]));
  return fields;
}
