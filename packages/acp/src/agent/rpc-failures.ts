import { RequestError } from '@agentclientprotocol/sdk';
import { HarnessError, type HarnessLogger, messageOf, safeDiagnostic, SessionLockTimeoutError } from '@parley/harness';

/** A field of a request that is wrong. */
export interface ParamIssue {
  /** Such as `mcpServers[0].command`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** -32602 that names the fields, never their values. */
export function invalidParams(...issues: readonly ParamIssue[]): RequestError {
  const text = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return RequestError.invalidParams({ issues }, safeDiagnostic(text));
}

/** -32600 for a request that does not fit to what goes on; `reason` is for programs. */
export function notNow(reason: string, message: string, data: Readonly<Record<string, unknown>> = {}): RequestError {
  return RequestError.invalidRequest({ reason, ...data }, message);
}

/** What a client is told of a failure: texts of the harness are safe, others may hold anything. */
export function toRequestError(error: unknown, logger: HarnessLogger): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof SessionLockTimeoutError) {
    return notNow('session_in_use', 'the session is in use by another process');
  }
  if (error instanceof HarnessError) {
    return new RequestError(-32603, `Internal error: ${safeDiagnostic(error.message)}`, { reason: error.code });
  }
  logger.warn('a request failed', { error: messageOf(error) });
  return new RequestError(-32603, 'Internal error');
}
