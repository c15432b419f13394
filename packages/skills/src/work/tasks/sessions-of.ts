import { MemorySessionStorage, type SessionStorage } from '@parley/harness';
import type { WorkOptions } from '../harness-run.js';
import type { LivingContext } from './contexts.js';

/** Characters of a conversation in memory; a longer one begins anew, with the parts that are still there. */
const MAX_SAID = 200_000;

/** Where a turn is recorded: the journals, or the memory of its context. */
export function sessionsOf({ sessions }: WorkOptions, context: LivingContext): SessionStorage {
  if (sessions !== undefined) return sessions;
  if (context.said > MAX_SAID) {
    context.sessions = new MemorySessionStorage();
    context.said = 0;
  }
  return context.sessions;
}
