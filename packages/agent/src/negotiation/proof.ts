import { hash as digest, randomBytes as nodeRandomBytes, timingSafeEqual } from 'node:crypto';

/** What {@link hashProof} makes of a secret, and 256 random bits. */
export interface Proof {
  /** base64url, 43 characters. */
  readonly secret: string;
  readonly hash: string;
}

/** base64url(SHA-256(secret)), over the secret's UTF-8 bytes as they stand in the header. */
export function hashProof(secret: string): string {
  return digest('sha256', secret, 'base64url');
}

/** @param randomBytes Default: of node:crypto. */
export function newProof(randomBytes: (count: number) => Uint8Array = nodeRandomBytes): Proof {
  const secret = Buffer.from(randomBytes(32)).toString('base64url');
  return { secret, hash: hashProof(secret) };
}

const MAX_SECRET_LENGTH = 256;

/** Compares in constant time; no secret, or one longer than 256 characters, never matches. */
export function proofMatches(hash: string, secret: string | undefined): boolean {
  if (secret === undefined || secret === '' || secret.length > MAX_SECRET_LENGTH) return false;
  const expected = Buffer.from(hash, 'base64url');
  const shown = Buffer.from(hashProof(secret), 'base64url');
  return expected.length === shown.length && timingSafeEqual(expected, shown);
}
