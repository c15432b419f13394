/** `ENOENT` and the like; undefined for what is no error of the system. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
