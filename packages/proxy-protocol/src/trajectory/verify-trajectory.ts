import { chainHash, FIRST_HASH } from './chain-hash.js';
import { eventKind } from './event-kind.js';
import type { TrajectoryEvent } from './trajectory-event.js';

export type Verification =
  | {
      readonly outcome: 'verified';
      /** The digest of the last event of each turn, in order. */
      readonly heads: readonly string[];
      /** False if the last turn has no event of its own yet: what came after may have been left out. */
      readonly isClosed: boolean;
    }
  /** `index`: the first event that does not fit. */
  | { readonly outcome: 'broken'; readonly index: number; readonly reason: string }
  /** No event carries a digest: not recorded by a proxy of ours, or all were taken out. */
  | { readonly outcome: 'nothing_to_verify'; readonly reason: string };

/**
 * Checks that every event is as it was recorded and where it was recorded. A chain proves nothing about who wrote it:
 * whoever changes an event and computes all digests anew is found only by comparing the heads with ones kept elsewhere.
 */
export function verifyTrajectory(events: readonly TrajectoryEvent[]): Verification {
  if (events.length === 0) return { outcome: 'nothing_to_verify', reason: 'there are no events' };
  if (events.every(({ hash }) => hash === undefined)) {
    return { outcome: 'nothing_to_verify', reason: 'the events carry no digests' };
  }
  const heads: string[] = [];
  let previous = FIRST_HASH;
  let before: TrajectoryEvent | undefined;
  for (const [index, event] of events.entries()) {
    const reason = fault(previous, event, before);
    if (reason !== undefined) return { outcome: 'broken', index, reason };
    const hash = event.hash ?? '';
    const endsTurn = eventKind(event) === 'turn';
    if (endsTurn) heads.push(hash);
    previous = endsTurn ? FIRST_HASH : hash;
    before = endsTurn ? undefined : event;
  }
  if (before?.hash !== undefined) heads.push(before.hash);
  return { outcome: 'verified', heads, isClosed: before === undefined };
}

function fault(previous: string, event: TrajectoryEvent, before: TrajectoryEvent | undefined): string | undefined {
  if (event.hash === undefined) return 'the event carries no digest, though others do';
  if (before !== undefined && event.trace_id !== before.trace_id)
    return 'the event is of another task than the one before it';
  if (event.hash === chainHash(previous, event)) return undefined;
  return 'the digest does not fit: this event was changed, or one before it was added, changed, moved or taken out';
}
