import { redactText } from './redact-text.js';

export interface SerializedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: SerializedError;
  /** The errors of an AggregateError: connecting to a name tries every address of it. */
  readonly errors?: readonly SerializedError[];
}

const MAX_DEPTH = 5;
const MAX_ERRORS = 8;

/** An error with its chain of causes as plain data, for the log only; credentials in its text are taken out. */
export function serializeError(thrown: unknown, depth = 0): SerializedError {
  if (!isErrorLike(thrown)) return { name: typeof thrown, message: redactText(describe(thrown)) };
  const { code, errors } = thrown as { readonly code?: unknown; readonly errors?: unknown };
  const deeper = depth < MAX_DEPTH;
  return {
    name: thrown.name,
    message: redactText(thrown.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(thrown.stack === undefined ? {} : { stack: redactText(thrown.stack) }),
    ...(thrown.cause === undefined || !deeper ? {} : { cause: serializeError(thrown.cause, depth + 1) }),
    ...(Array.isArray(errors) && errors.some(isErrorLike) && deeper
      ? { errors: errors.slice(0, MAX_ERRORS).map((error) => serializeError(error, depth + 1)) }
      : {}),
  };
}

/** Never throws: what was thrown may have no text form. */
function describe(thrown: unknown): string {
  try {
    return typeof thrown === 'object' && thrown !== null ? Object.prototype.toString.call(thrown) : String(thrown);
  } catch {
    return 'indescribable';
  }
}

/** By its members: errors may come from another realm, and `instanceof` knows only its own. */
export function isErrorLike(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Error) return true;
  const { name, message, stack } = value as Partial<Record<'name' | 'message' | 'stack', unknown>>;
  return typeof name === 'string' && typeof message === 'string' && typeof stack === 'string';
}
