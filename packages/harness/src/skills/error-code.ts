/** The code of a failed file operation, such as `ENOENT`; undefined if there is none. */
export function errorCode(error: unknown): string | undefined {
  // No instanceof: where code runs in a context of its own, Node's errors are of another Error class.
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
