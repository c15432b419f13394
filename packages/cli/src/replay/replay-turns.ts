import type { JsonObject } from '@parley/proxy-protocol';
import type { ProxyPorts } from '../proxy-ports.js';
import { type RecordedTurnEvent, readRecordedEvents } from '../trajectory/recorded-events.js';
import { UsageError } from '../usage-error.js';

/** An event with its place in the file. */
export interface ReplayedEvent {
  readonly index: number;
  readonly event: JsonObject;
  readonly read: RecordedTurnEvent;
}

/** A turn of a saved trajectory. */
export interface ReplayedTurn {
  /** Model calls and actions, in their order. */
  readonly steps: readonly ReplayedEvent[];
  readonly end: ReplayedEvent & { readonly read: RecordedTurnEvent & { readonly kind: 'turn' } };
}

/** @throws UsageError for events that cannot be played. */
export function replayTurns(
  events: readonly JsonObject[],
  { parseExact }: Pick<ProxyPorts, 'parseExact'>,
): readonly ReplayedTurn[] {
  const turns: ReplayedTurn[] = [];
  let steps: ReplayedEvent[] = [];
  for (const [index, read] of readRecordedEvents(events, parseExact).entries()) {
    const event = events[index] ?? {};
    if (read.kind === 'other') throw new UsageError(`event ${index} is none of a proxy's: it cannot be played`);
    if (read.kind === 'turn') {
      turns.push({ steps, end: { index, event, read } });
      steps = [];
    } else steps.push({ index, event, read });
  }
  // Its prompt is in the event of the turn.
  if (steps.length > 0)
    throw new UsageError('the last turn has no event of its own: only turns that have ended can be played');
  if (turns.length === 0) throw new UsageError('there is nothing to play: the trajectory has no events');
  return turns;
}
