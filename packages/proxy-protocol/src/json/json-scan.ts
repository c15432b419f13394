/** True if a string of the value, be it a member's name, holds half of a surrogate pair: UTF-8 has no form for it. */
export function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (Array.isArray(value)) return value.some(hasLoneSurrogate);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return false;
  return Object.entries(value).some(([name, member]) => !name.isWellFormed() || hasLoneSurrogate(member));
}

/** True if a number of the value is NaN or infinite, which JSON has no form for. A raw `1e400` is none: it has one. */
export function hasNonFinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (Array.isArray(value)) return value.some(hasNonFinite);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return false;
  return Object.values(value).some(hasNonFinite);
}
