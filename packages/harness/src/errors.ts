/**
 * Base of every error that the harness throws on purpose. `code` names the kind for programs, `message` is
 * safe to show: it holds no argument values and no secrets.
 */
export class HarnessError extends Error {
  override readonly name: string = 'HarnessError';

  constructor(
    readonly code: string,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return String(error);
}
