import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { TrajectoryEvent } from './trajectory-event.js';

/** What stands for the digest before the first event of a turn. */
export const FIRST_HASH = '0'.repeat(64);

/**
 * The digest of an event of a trajectory, in lowercase hex.
 *
 * The rule, for whoever verifies a record in another language: SHA-256 over the UTF-8 bytes of the digest of the event
 * before it in the same turn (64 hex digits; 64 zeros for the first), a line feed, and the canonical JSON of the event
 * without its member `hash` (see {@link canonicalJson}). The event of a turn is its last, so that its digest, the head
 * of the chain, covers all of the turn; the next turn's chain begins anew.
 *
 * @param previous The digest of the event before it in the turn; {@link FIRST_HASH} for the first.
 */
export function chainHash(previous: string, event: Omit<TrajectoryEvent, 'hash'>): string {
  return chainedHash(previous, event).hash;
}

/** As {@link chainHash}; `bytes` is how long the event with its digest is as JSON in UTF-8, up to how numbers look. */
export function chainedHash(
  previous: string,
  event: Omit<TrajectoryEvent, 'hash'>,
): { readonly hash: string; readonly bytes: number } {
  const text = canonicalJson({ ...event, hash: undefined });
  const hash = createHash('sha256').update(`${previous}\n`).update(text).digest('hex');
  return { hash, bytes: Buffer.byteLength(text) + `,"hash":"${hash}"`.length };
}
