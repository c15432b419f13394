import type { Message } from '../messages.js';
import type { AppliedCompaction, SessionEntry } from './session-types.js';

/** The history that a model would see: what the last compaction left, and everything said after it. */
export function historyOf(entries: readonly SessionEntry[], latest: AppliedCompaction | undefined): Message[] {
  if (latest === undefined) return entries.map(({ message }) => message);
  return [...latest.messages, ...entries.slice(latest.coveredEntryCount).map(({ message }) => message)];
}
