/** Something was asked for that cannot be: told in one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
