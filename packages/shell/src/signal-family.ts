import type { ProcessFamily } from './process-family.js';
import type { ProcessEntry } from './process-table.js';
import { sendSignal } from './send-signal.js';

/**
 * Signals the groups of the members as a whole, so that nobody is missed who is being born. A session that a member is
 * in was made by the family, hence all of its groups are the family's.
 */
export function signalFamily(family: ProcessFamily, members: readonly ProcessEntry[], signal: NodeJS.Signals): void {
  if (family.bornAt === undefined) sendSignal(-family.leader, signal);
  else for (const group of new Set(members.map((member) => member.group))) sendSignal(-group, signal);
}
