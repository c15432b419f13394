import type { MockScript } from './mock/script.mjs';

/** A short run, and what becomes of it. */
export interface RunKind {
  readonly script: MockScript;
  /** A stop reason, or `not started`. */
  readonly becomes: string;
  /** As soon as the child has said something. */
  readonly isCancelled?: boolean;
}

const HI = { text: 'hi' };
const END = { answer: 'end_turn' };
const ASK = { ask: ['allow_once', 'reject_once'] };
const NO = { code: -32603, message: 'no' };
const NEVER = { never: true };
const prompt = (...steps: object[]): MockScript => ({ prompts: [steps] });
const AUTH = { error: { code: -32000, message: 'Authentication required' } };

/** One of each kind of end. */
export const KINDS: readonly [RunKind, ...RunKind[]] = [
  { script: prompt(HI, END), becomes: 'completed' },
  { script: prompt(HI, { answer: 'refusal' }), becomes: 'refusal' },
  { script: prompt(ASK, HI, END), becomes: 'completed' },
  { script: prompt({ aside: [ASK] }, HI, END), becomes: 'completed' },
  { script: prompt(HI, { exit: 3 }), becomes: 'error' },
  { script: prompt(HI, { kill: 'SIGKILL' }), becomes: 'error' },
  { script: prompt(HI, { error: NO }), becomes: 'error' },
  { script: { initialize: [{ exit: 4 }] }, becomes: 'not started' },
  { script: { newSession: [AUTH] }, becomes: 'not started' },
  {
    script: { start: [{ repeat: 500, steps: [{ raw: 'garbage\n' }] }], initialize: [NEVER] },
    becomes: 'not started',
  },
  { script: prompt(HI, { untilCancel: true }, { answer: 'cancelled' }), becomes: 'aborted', isCancelled: true },
  { script: { ...prompt(HI, NEVER), cancel: [{ exit: 1 }] }, becomes: 'aborted', isCancelled: true },
  { script: prompt({ fork: { setsid: true } }, HI, END), becomes: 'completed' },
  { script: { ...prompt(HI, END), eof: [], stays: true }, becomes: 'completed' },
];
