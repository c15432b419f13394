import { REDACTED, redactText } from './redact-text.js';
import { isErrorLike, serializeError } from './serialize-error.js';

const MAX_DEPTH = 6;
const MAX_ENTRIES = 200;

/** Names of members that hold secrets, without case, dashes and underscores. */
const SECRET_NAMES = new Set([
  ...['authorization', 'proxyauthorization', 'bearer', 'token', 'accesstoken', 'refreshtoken', 'idtoken'],
  ...['ownertoken', 'jointoken', 'operatortoken', 'parleyjointoken', 'proof', 'agreementproof', 'parleyagreementproof'],
  ...['secret', 'clientsecret', 'password', 'passwd', 'passphrase', 'apikey', 'xapikey', 'privatekey'],
  ...['cookie', 'setcookie', 'credentials'],
]);

/** Whether a member of this name is a secret: `Authorization`, `owner_token`, `ownerToken`, `parley-join-token`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name.replaceAll(/[-_\s]/g, '').toLowerCase());
}

/**
 * A copy of log fields that may be written: secrets replaced at every depth, errors as plain data, and
 * bounded in depth, number and length, whatever was given.
 */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return copyMembers(Object.entries(fields), 0, new Set());
}

function copyMembers(
  entries: readonly (readonly [string, unknown])[],
  depth: number,
  open: ReadonlySet<object>,
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of entries.slice(0, MAX_ENTRIES)) {
    if (name === '__proto__') continue;
    // Without a value there is no secret, and that it is missing may be what the line is about.
    const secret = isSecretName(name) && value !== undefined && value !== null;
    out[name] = secret ? REDACTED : copyValue(value, depth + 1, open);
  }
  return out;
}

function copyValue(value: unknown, depth: number, open: ReadonlySet<object>): unknown {
  switch (typeof value) {
    case 'string':
      return redactText(value);
    case 'bigint':
      return value.toString();
    case 'function':
    case 'symbol':
      return undefined;
    case 'object':
      return value === null ? null : copyObject(value, depth, open);
    default:
      return value;
  }
}

function copyObject(value: object, depth: number, open: ReadonlySet<object>): unknown {
  if (open.has(value)) return '[circular]';
  if (depth > MAX_DEPTH) return '[deeper]';
  if (isErrorLike(value)) return serializeError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${String(value.byteLength)} bytes]`;
  const inside = new Set(open).add(value);
  if (Array.isArray(value))
    return value.slice(0, MAX_ENTRIES).map((item: unknown) => copyValue(item, depth + 1, inside));
  if (value instanceof Map) {
    const entries = [...(value as Map<unknown, unknown>)].map(([name, item]) => [String(name), item] as const);
    return copyMembers(entries, depth, inside);
  }
  if (value instanceof Set) return copyValue([...(value as Set<unknown>)], depth, inside);
  if (value instanceof URL) return redactText(value.href);
  return copyMembers(Object.entries(value), depth, inside);
}
