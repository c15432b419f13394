import { asRecord } from './as-record.js';
import {
  ContextOverflowError,
  ModelAuthenticationError,
  type ModelErrorOptions,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from './model-errors.js';

/** What a provider said about a failure, whatever form it had. */
export interface ProviderFailure {
  readonly status?: number | undefined;
  readonly codes?: readonly string[];
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
}

const OVERFLOW_CODES = new Set([
  'context_length_error',
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'input_too_long',
  'model_context_window_exceeded',
  'prompt_too_long',
]);

/** Wordings of well-known servers for a request that does not fit into the window. */
const OVERFLOW_PHRASES: readonly RegExp[] = [
  /context (?:length|window|size) (?:is )?(?:exceeded|exceeds)/u,
  /exceed(?:s|ed)?(?: the| its| model)*(?: available)? (?:context|token limit)/u,
  /maximum (?:context|prompt) length/u,
  /(?:prompt|input) (?:is )?too long/u,
  /too many (?:input )?tokens/u,
  /input token count .*exceeds/u,
  /greater than the context length/u,
  /reduce the length of the (?:messages|prompt|input)/u,
];

/** Amounts per time: a limit that waiting mends and a shorter request does not. */
const RATE_PHRASES = /\b(?:tokens?|requests?) per (?:second|minute|hour|day|month)\b|\brate.?limit/u;
const RATE_CODES = new Set(['rate_limit_exceeded', 'rate_limit_error', 'too_many_requests', 'insufficient_quota']);
const AUTHENTICATION_CODES = new Set(['authentication_error', 'invalid_api_key', 'permission_error', 'unauthorized']);
const TIMEOUT_CODES = new Set(['timeout', 'timeout_error', 'request_timeout']);

/** No wait mends an account without credit. */
const FINAL_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached']);

// Long enough for any sentence a provider writes, short enough for a log line.
const MAX_TEXT = 600;

/**
 * The error of the right kind. Credentials and limits per time come before overflow, because their texts may speak of
 * tokens too, and a shorter request would not mend them; neither would it mend a body that is too large (413) for the
 * next server on the way.
 */
export function toModelError(failure: ProviderFailure, overflowPatterns: readonly RegExp[] = []): ModelProviderError {
  const { status, retryAfterMs } = failure;
  const message = describe(failure);
  const codes = (failure.codes ?? []).map((code) => code.toLowerCase());
  const text = failure.text.toLowerCase();
  const options: ModelErrorOptions = { status, retryAfterMs };
  const has = (known: ReadonlySet<string>): boolean => codes.some((code) => known.has(code));

  if (status === 401 || status === 403 || has(AUTHENTICATION_CODES)) {
    return new ModelAuthenticationError(message, options);
  }
  if (status === 413) return new ModelProviderError('provider_error', message, options);
  if (status === 429 || has(RATE_CODES) || RATE_PHRASES.test(text)) {
    return new ModelRateLimitError(message, { ...options, transient: !has(FINAL_CODES) });
  }
  if (status === 408 || status === 504 || has(TIMEOUT_CODES)) {
    return new ModelTimeoutError(message, { ...options, transient: true });
  }
  const overflow =
    has(OVERFLOW_CODES) ||
    OVERFLOW_PHRASES.some((phrase) => phrase.test(text)) ||
    overflowPatterns.some((pattern) => matches(pattern, failure.text));
  if (overflow) return new ContextOverflowError(message, options);
  const transient = status !== undefined && status >= 500;
  return new ModelProviderError('provider_error', message, { ...options, transient });
}

function matches(pattern: RegExp, text: string): boolean {
  // A pattern with the flag `g` or `y` remembers where it was.
  pattern.lastIndex = 0;
  return pattern.test(text);
}

function describe({ status, text }: ProviderFailure): string {
  const words = shorten(looksLikeHtml(text) ? titleOf(text) : text);
  const where = status === undefined ? 'the model server failed' : `the model server answered ${status}`;
  return words === '' ? where : `${where}: ${words}`;
}

/** One line of at most 600 characters. */
export function shorten(text: string): string {
  const line = text
    .slice(0, MAX_TEXT * 4)
    .replace(/\s+/gu, ' ')
    .trim();
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT - 1)}…`;
}

export function looksLikeHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml)/iu.test(text);
}

function titleOf(html: string): string {
  const title = /<title[^>]*>([^<]*)/iu.exec(html.slice(0, 10_000))?.[1]?.trim();
  return title === undefined || title === '' ? 'an HTML page' : `an HTML page titled "${title}"`;
}

/** Reads the failure object that servers put into an answer, under `error` or bare. */
export function readFailure(body: unknown, status?: number): ProviderFailure {
  if (typeof body === 'string') return { status, text: body };
  // One well-known server wraps its failures into an array.
  const record = asRecord(Array.isArray(body) ? body[0] : body);
  const inner = record?.['error'];
  if (typeof inner === 'string') return { status, text: inner };
  const error = asRecord(inner) ?? record;
  if (error === undefined) return { status, text: '' };
  const codes = [error['code'], error['type'], error['status']].filter((code) => typeof code === 'string');
  return { status: status ?? statusIn(error), codes, text: textIn(error) };
}

// Routers answer 200 and put the status of the server behind them into the code.
function statusIn(error: Readonly<Record<string, unknown>>): number | undefined {
  const code = Number(error['code'] ?? error['status_code']);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : undefined;
}

function textIn(error: Readonly<Record<string, unknown>>): string {
  for (const field of ['message', 'detail', 'msg']) {
    const value = error[field];
    if (typeof value === 'string') return value;
    if (value !== undefined && value !== null) return JSON.stringify(value);
  }
  return JSON.stringify(error);
}
