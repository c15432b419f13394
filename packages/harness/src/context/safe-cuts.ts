import type { Message } from '../messages.js';

/** Where a history may be cut in two. */
export interface SafeCut {
  /** Index of the first message after the cut. */
  readonly index: number;
  /** True before a user message, false before an assistant message inside a turn. */
  readonly atUser: boolean;
}

/**
 * Every place after `start` where no call is on one side and its result on the other, oldest first. A part never
 * begins with a result, and neither part is empty.
 */
export function safeCuts(history: readonly Message[], start: number): readonly SafeCut[] {
  const lastResults = lastResultIndices(history);
  const cuts: SafeCut[] = [];
  let settledFrom = start;
  for (let index = start; index < history.length; index++) {
    const role = history[index]?.role;
    if (index > start && index >= settledFrom && (role === 'user' || role === 'assistant')) {
      cuts.push({ index, atUser: role === 'user' });
    }
    settledFrom = Math.max(settledFrom, (lastResults.get(index) ?? 0) + 1);
  }
  return cuts;
}

/** For each assistant message with results, the index of the last of them. */
function lastResultIndices(history: readonly Message[]): ReadonlyMap<number, number> {
  const callers = new Map<string, number>();
  const last = new Map<number, number>();
  for (const [index, message] of history.entries()) {
    if (message.role === 'assistant') {
      for (const call of message.toolCalls) callers.set(call.id, index);
    } else if (message.role === 'tool') {
      const caller = callers.get(message.toolCallId);
      if (caller !== undefined) last.set(caller, index);
    }
  }
  return last;
}
