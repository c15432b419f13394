import { Buffer } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from './facts.js';

const MIN_CHARACTERS = 22;

/**
 * The hash to keep of a token that claims a proxy: the token itself is kept nowhere.
 *
 * @throws Refusal 400 for one shorter than 22 code points, or with half a surrogate pair.
 */
export function hashOfNewToken(token: string): string {
  refuseBrokenText(token);
  // More than twice as many UTF-16 units are enough in any case: a long token is not spread out to be counted.
  if (token.length < 2 * MIN_CHARACTERS && Array.from(token).length < MIN_CHARACTERS) {
    throw new Refusal(400, `the token needs at least ${MIN_CHARACTERS} characters`);
  }
  return digest(token).toString('base64url');
}

/**
 * Compares bytes, in a time that tells nothing of where they differ.
 *
 * @throws Refusal 400 for a token with half a surrogate pair: as bytes it would be equal to another one.
 */
export function isTokenOf(hash: string, token: string): boolean {
  refuseBrokenText(token);
  const kept = Buffer.from(hash, 'base64url');
  const shown = digest(token);
  return kept.length === shown.length && timingSafeEqual(kept, shown);
}

function refuseBrokenText(token: string): void {
  if (!token.isWellFormed()) throw new Refusal(400, "the token isn't valid Unicode text");
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
