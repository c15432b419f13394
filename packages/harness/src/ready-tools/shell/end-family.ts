import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessFamily } from './process-family.js';

/** How long killed processes are waited for: one that hangs in the kernel ends later, or never. */
const KILL_WAIT_MS = 3_000;

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

export interface FamilyEnd {
  /** How many lived when it began. */
  readonly found: number;
  /** How many could not be ended. */
  readonly left: number;
}

/** Asks a family to end, and ends it when the time for that is over. Resolves when nobody is left. */
export async function endFamily(family: ProcessFamily, graceMs: number): Promise<FamilyEnd> {
  const first = family.members();
  if (first.length === 0) return { found: 0, left: 0 };
  family.signal(first, 'SIGTERM');
  const unwilling = await waitForEnd(family, graceMs, 'wait');
  const left = unwilling.length === 0 ? [] : await waitForEnd(family, KILL_WAIT_MS, 'kill');
  return { found: first.length, left: left.length };
}

async function waitForEnd(family: ProcessFamily, timeoutMs: number, mode: 'wait' | 'kill'): Promise<readonly number[]> {
  const deadline = performance.now() + timeoutMs;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const members = family.members();
    if (members.length === 0 || performance.now() >= deadline) return members;
    // Again each time: some may have been born between the look and the signal.
    if (mode === 'kill') family.signal(members, 'SIGKILL');
    await delay(Math.min(pause, Math.max(1, deadline - performance.now())));
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}
