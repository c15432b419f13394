import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests: of equal length whatever was given, so that the time taken tells nothing about the secret. */
export function sameSecret(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false;
  return timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(expected).digest());
}
