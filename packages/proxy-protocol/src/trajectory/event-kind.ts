import { isJsonObject } from '../json/index.js';
import { GEN_AI } from './attribute-names.js';
import type { EventKind, TrajectoryEvent } from './trajectory-event.js';

const KINDS: ReadonlyMap<unknown, EventKind> = new Map([
  ['chat', 'chat'],
  ['execute_tool', 'action'],
  ['chain', 'turn'],
]);

export function eventKind(event: TrajectoryEvent): EventKind | undefined {
  return KINDS.get(event.attributes[GEN_AI.operationName]);
}

/** The events of each turn; those after the last turn's end are of one that is under way. */
export function turnsOf(events: readonly TrajectoryEvent[]): readonly (readonly TrajectoryEvent[])[] {
  const turns: TrajectoryEvent[][] = [];
  let isOpen = false;
  for (const event of events) {
    if (isOpen) turns.at(-1)?.push(event);
    else turns.push([event]);
    isOpen = eventKind(event) !== 'turn';
  }
  return turns;
}

/** What of a foreign record may be read as an event: an object with names, times, a status and attributes. */
export function isTrajectoryEvent(value: unknown): value is TrajectoryEvent {
  if (!isJsonObject(value)) return false;
  const { name, start_time, end_time, status, attributes } = value;
  return (
    [name, start_time, end_time].every((member) => typeof member === 'string') &&
    isJsonObject(status) &&
    isJsonObject(attributes)
  );
}
