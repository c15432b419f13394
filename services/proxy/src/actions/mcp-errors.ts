/** What goes wrong between the proxy and an env server; `kind` is the word that drivers read before the reason. */
export class McpError extends Error {
  override readonly name = 'McpError';

  constructor(
    readonly kind: 'ToolSessionError' | 'ConnectError' | 'ReadError',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The server no longer knows the session that was shown to it. */
export class SessionLostError extends McpError {}

export function sessionError(message: string): McpError {
  return new McpError('ToolSessionError', message);
}

export function turnOver(): McpError {
  return sessionError('the turn is over');
}

/** The time for the whole was over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
