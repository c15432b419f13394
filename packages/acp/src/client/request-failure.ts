import { RequestError } from '@agentclientprotocol/sdk';
import { messageOf } from '@parley/harness';

/** What the protocol has for "authentication required". */
const AUTH_REQUIRED = -32_000;
const MAX_SHOWN_CHARS = 1_000;

export function isAuthRequired(error: unknown): boolean {
  return error instanceof RequestError && error.code === AUTH_REQUIRED;
}

/** An error that the child has answered with, in words. Many say what matters in `data.details` only. */
function describeRequestError({ code, message, data }: RequestError): string {
  const details = detailsOf(data);
  const text = details === undefined || message.includes(details) ? message : `${message}: ${details}`;
  return `error ${code}: ${text.slice(0, MAX_SHOWN_CHARS)}`;
}

/** Any failure of a request, in words. */
export function describeFailure(error: unknown): string {
  return error instanceof RequestError ? describeRequestError(error) : messageOf(error);
}

function detailsOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data;
  if (typeof data !== 'object' || data === null) return undefined;
  const { details } = data as { details?: unknown };
  return typeof details === 'string' && details !== '' ? details : undefined;
}
