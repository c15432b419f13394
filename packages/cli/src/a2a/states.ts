import type { A2aTaskState } from '@parley/agent';
import type { Tone } from '../ui/style.js';

const FAILED_EXIT_CODE = 1;
const INPUT_EXIT_CODE = 3;

/** Those that can be asked for, as they are shown. */
export const STATE_NAMES = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
] as const;

/** As the protocol and people write it. */
export function stateName(state: A2aTaskState): string {
  return state.replaceAll('_', '-');
}

/** Nothing comes after it. */
export function isEnded(state: A2aTaskState): boolean {
  return ['completed', 'failed', 'canceled', 'rejected'].includes(state);
}

/** The agent waits for somebody. */
export function asksForSomething(state: A2aTaskState): boolean {
  return state === 'input_required' || state === 'auth_required';
}

/** Nothing comes by itself. */
export function isSettled(state: A2aTaskState): boolean {
  return isEnded(state) || asksForSomething(state);
}

/** A task that did not settle was not completed. */
export function exitCodeOf(state: A2aTaskState): number {
  if (state === 'completed') return 0;
  return asksForSomething(state) ? INPUT_EXIT_CODE : FAILED_EXIT_CODE;
}

export function toneOf(state: A2aTaskState): Tone {
  if (state === 'completed') return 'good';
  if (asksForSomething(state)) return 'warn';
  return isEnded(state) ? 'bad' : 'dim';
}
