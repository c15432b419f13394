import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { AppError } from '@parley/service-kit';
import type { Terms } from '../wire/agreement.js';

/**
 * The one form of terms that is hashed: only the fields known here, and none that are empty. One of the
 * transports cannot tell an empty map from an absent one, so both sides leave it out.
 */
export function normalTerms(terms: Terms): Terms {
  const { max_calls, max_concurrent_calls } = terms.limits ?? {};
  const limits = {
    ...(max_calls === undefined ? {} : { max_calls }),
    ...(max_concurrent_calls === undefined ? {} : { max_concurrent_calls }),
  };
  return {
    initiator: terms.initiator,
    responder: terms.responder,
    capabilities: terms.capabilities.map(({ name, version, parameters }) => ({
      name,
      ...(version === undefined ? {} : { version }),
      ...(parameters === undefined || Object.keys(parameters).length === 0 ? {} : { parameters }),
    })),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    lease: {
      ttl_seconds: terms.lease.ttl_seconds,
      max_lifetime_seconds: terms.lease.max_lifetime_seconds,
    },
  };
}

/** `sha256:` + base64url(SHA-256(JCS(terms))), RFC 8785, over {@link normalTerms}. */
export function digestTerms(terms: Terms): string {
  return `sha256:${sha256(jcs(normalTerms(terms)))}`;
}

/** Canonical JSON text (RFC 8785). @throws AppError for what has no such form, e.g. half of a surrogate pair. */
export function jcs(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (cause) {
    throw new AppError('invalid_request', 'The values have no canonical JSON form.', { cause });
  }
  if (text === undefined) throw new AppError('invalid_request', 'The values have no canonical JSON form.');
  return text;
}

/** base64url of the SHA-256 of the UTF-8 text. */
export function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
