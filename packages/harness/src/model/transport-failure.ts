import type { APIError, OpenAI } from 'openai';
import { ModelProviderError, ModelTimeoutError } from './model-errors.js';
import { type ProviderFailure, readFailure } from './provider-failure.js';
import { readRetryAfter } from './retry-rule.js';

/** The library, which is loaded when the first request needs it. */
export interface OpenAiLibrary {
  readonly OpenAI: typeof OpenAI;
}

/** What a refused request says, or undefined if the error is no answer of a server. */
export function readStatusFailure(error: unknown, library: OpenAiLibrary, now: number): ProviderFailure | undefined {
  if (!(error instanceof library.OpenAI.APIError)) return undefined;
  // The library leaves its generic arguments `any` here. Its `error` is what the server sent, or undefined.
  const { status, headers, error: body, message } = error as APIError;
  if (status === undefined) return undefined;
  const failure = readFailure(body ?? withoutStatus(message, status), status);
  return { ...failure, retryAfterMs: headers === undefined ? undefined : readRetryAfter(headers, now) };
}

// The library puts the status before a text that is no JSON, and a sentence where there is no text.
function withoutStatus(message: string, status: number): string {
  const text = message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message;
  return text === 'status code (no body)' ? '' : text;
}

/** The error for a connection that could not be made, or broke. It may be better the next time. */
export function toConnectionError(error: unknown, what: string): ModelProviderError {
  const code = codeIn(error);
  const message = code === undefined ? what : `${what} (${code})`;
  if (isTimeout(error, code)) return new ModelTimeoutError(message, { transient: true });
  return new ModelProviderError('provider_error', message, { transient: true });
}

function isTimeout(error: unknown, code: string | undefined): boolean {
  return /TIMEOUT|ETIMEDOUT/u.test(code ?? '') || (error instanceof Error && /timed out/iu.test(error.message));
}

/** Names of the system or of the HTTP client, such as ECONNREFUSED; they hold nothing of the request. */
function codeIn(error: unknown): string | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < 5; depth++) {
    if (typeof current !== 'object' || current === null) return undefined;
    const { code, cause } = current as { code?: unknown; cause?: unknown };
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/u.test(code)) return code;
    // A host with several addresses fails with one error for each.
    current = cause ?? (current instanceof AggregateError ? current.errors[0] : undefined);
  }
  return undefined;
}
