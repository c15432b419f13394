import type { AcpModes } from '@parley/acp';
import type { Allowance } from '../agent/approvals.js';
import type { Permissions } from '../agent/make-agent.js';

const ASK = 'ask';
const READ_ONLY = 'read-only';
const FULL_ACCESS = 'full-access';

/** Sessions begin in the mode that the options of the program describe. */
export function sessionModes(allowed: ReadonlySet<Allowance>): AcpModes {
  return {
    initial: allowed.has('all') ? FULL_ACCESS : ASK,
    available: [
      { id: ASK, name: 'Ask', description: 'Asks before it changes files or runs commands' },
      { id: READ_ONLY, name: 'Read only', description: 'Only looks: changes and commands are denied' },
      { id: FULL_ACCESS, name: 'Full access', description: 'Changes files and runs commands without asking' },
    ],
  };
}

/** What a mode allows; `ask` allows what was allowed when the program was started. */
export function permissionsOf(mode: string, allowed: ReadonlySet<Allowance>): Permissions {
  switch (mode) {
    case READ_ONLY:
      return { allowed: new Set<Allowance>(['read']), isDenied: true };
    case FULL_ACCESS:
      return { allowed: new Set<Allowance>(['all']), isDenied: false };
    default:
      return { allowed: allowed.has('all') ? new Set<Allowance>(['read']) : allowed, isDenied: false };
  }
}
