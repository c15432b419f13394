import type { Json } from '../../domain/facts.js';
import {
  type FieldCheck,
  literal,
  nullable,
  recordOf,
  shape,
  strictInteger,
  text,
  wrongField,
} from '../fields/index.js';

/** Leave to move one object: whoever holds it may, so it is a credential. */
export interface Grant {
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ReadObject {
  readonly maxBytes: number;
  readonly sizeBytes: number | null;
  /** 64 hex digits. */
  readonly sha256: string | null;
  readonly grant: Grant;
}

export interface WriteObject {
  readonly mediaType: string;
  readonly maxBytes: number;
  readonly grant: Grant;
}

const mediaType = text({ pattern: /^[!#$&^_.+\-|~0-9A-Za-z]+\/[!#$&^_.+\-|~0-9A-Za-z]+$/ });
const maxBytes = strictInteger({ min: 1, max: Number.MAX_SAFE_INTEGER });

const readFields = shape(
  { media_type: mediaType, max_bytes: maxBytes, read: grant('http-get') },
  {
    size_bytes: nullable(strictInteger({ min: 0 })),
    sha256: nullable(text({ pattern: /^[0-9a-f]{64}$/ })),
  },
);

export const readObject: FieldCheck<ReadObject> = (value, path) => {
  const fields = readFields(value, path);
  const sizeBytes = fields.size_bytes ?? null;
  if (sizeBytes !== null && sizeBytes > fields.max_bytes)
    throw wrongField(path, 'size_bytes must not exceed max_bytes');
  return { maxBytes: fields.max_bytes, sizeBytes, sha256: fields.sha256 ?? null, grant: fields.read };
};

const writeFields = shape({ media_type: mediaType, max_bytes: maxBytes, write: grant('http-put') }, {});

export const writeObject: FieldCheck<WriteObject> = (value, path) => {
  const fields = writeFields(value, path);
  return { mediaType: fields.media_type, maxBytes: fields.max_bytes, grant: fields.write };
};

function grant(kind: 'http-get' | 'http-put'): FieldCheck<Grant> {
  const check = shape(
    { kind: literal(kind), url: httpsUrl, expires_at: utcTime },
    { headers: nullable(recordOf(text({ pattern: /^[\t\x20-\x7e]*$/ }))) },
  );
  return (value, path) => {
    const fields = check(value, path);
    return { url: fields.url, expiresAt: fields.expires_at, headers: fields.headers ?? {} };
  };
}

function httpsUrl(value: Json, path: string): string {
  const url = text()(value, path);
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw wrongField(path, 'must be an absolute HTTPS URL');
  return url;
}

const UTC_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]00:?00)$/;

function utcTime(value: Json, path: string): number {
  const written = text()(value, path);
  const time = UTC_TIME.test(written) ? Date.parse(written.replace(' ', 'T').toUpperCase()) : NaN;
  if (Number.isNaN(time)) throw wrongField(path, 'must be an RFC 3339 UTC timestamp');
  return time;
}
