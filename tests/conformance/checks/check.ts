import type { Wire } from '../support/all-voices.js';
import type { SeenEvent, SeenTask } from '../support/seen.js';
import type { Voice } from '../support/voice.js';

/** One thing that holds on every binding in every version. */
export interface Check {
  readonly name: string;
  /** Default: everywhere. */
  readonly where?: (wire: Wire) => boolean;
  readonly run: (voice: Voice) => Promise<void>;
}

export const in10 = ({ version }: Wire): boolean => version === '1.0';

export async function collect(events: AsyncIterable<SeenEvent>): Promise<SeenEvent[]> {
  const all: SeenEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** A task that is at work and stays so until it is cancelled. */
export async function workingTask(voice: Voice): Promise<SeenTask> {
  return asTask(await voice.send({ scenario: 'bb-silent' }, { immediately: true }));
}

export function asTask(answer: SeenEvent): SeenTask {
  if (answer.kind !== 'task') throw new Error(`a task was expected, not ${JSON.stringify(answer)}`);
  return answer;
}

export async function taskFrom(voice: Voice, scenario: string, contextId?: string): Promise<SeenTask> {
  return asTask(await voice.send({ scenario, ...(contextId === undefined ? {} : { contextId }) }));
}
