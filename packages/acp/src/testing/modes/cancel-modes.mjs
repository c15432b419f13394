// Runs that somebody cancels, at every point of their way.
const HELLO = { text: 'hello' };
const END = { answer: 'end_turn' };
const prompt = (...steps) => ({ prompts: [steps] });
const CANCELLED = { answer: 'cancelled' };
const UNTIL_CANCEL = { untilCancel: true };
const aborted = { stopReason: 'aborted', output: 'hello' };
const SHORT = { deadlines: { cancelGraceMs: 200, closeMs: 150, termMs: 150 } };
const NOT_STARTED = { start: 'cancel|abort' };
const STUBBORN = { eof: [], term: [], stays: true };
const SILENT = [{ never: true }];

/** @type {readonly import('./mock-mode.mjs').MockMode[]} */
export const CANCEL_MODES = [
  { name: 'cancelled before the start', script: prompt(HELLO, END), cancel: { when: 'before' }, expect: NOT_STARTED },
  {
    name: 'cancelled in initialize',
    script: { initialize: SILENT },
    cancel: { when: 'initialize' },
    expect: NOT_STARTED,
  },
  {
    name: 'cancelled in initialize, and ignores whatever ends it',
    script: { initialize: [{ fork: { trapTerm: true } }, { never: true }], ...STUBBORN },
    options: SHORT,
    cancel: { when: 'initialize' },
    expect: NOT_STARTED,
  },
  {
    name: 'cancelled in session/new',
    script: { newSession: SILENT },
    cancel: { when: 'session/new' },
    expect: NOT_STARTED,
  },
  {
    name: 'cancelled in session/new, which is answered then',
    script: { newSession: [{ wait: 150 }, { result: {} }], prompts: [[HELLO, END]] },
    cancel: { when: 'session/new' },
    expect: NOT_STARTED,
  },
  {
    name: 'cancelled in the prompt',
    script: prompt(HELLO, UNTIL_CANCEL, CANCELLED),
    cancel: { when: 'text' },
    expect: aborted,
  },
  {
    name: 'cancelled in the prompt by the run',
    script: prompt(HELLO, UNTIL_CANCEL, CANCELLED),
    cancel: { when: 'text', by: 'cancel' },
    expect: aborted,
  },
  {
    name: 'disposed of in the prompt',
    script: prompt(HELLO, UNTIL_CANCEL, CANCELLED),
    cancel: { when: 'text', by: 'dispose' },
    expect: aborted,
  },
  {
    name: 'says its last words when it is cancelled',
    script: prompt(
      HELLO,
      UNTIL_CANCEL,
      { text: ' and' },
      { wait: 50 },
      { together: [{ text: ' goodbye' }, CANCELLED] },
    ),
    options: { deadlines: { cancelGraceMs: 5_000 } },
    cancel: { when: 'text' },
    expect: { stopReason: 'aborted', output: 'hello and goodbye' },
  },
  {
    name: 'completes though it is cancelled',
    script: prompt(HELLO, UNTIL_CANCEL, END),
    cancel: { when: 'text' },
    expect: aborted,
  },
  {
    name: 'answers the cancel with an error',
    script: prompt(HELLO, UNTIL_CANCEL, { error: { code: -32800, message: 'Request cancelled' } }),
    cancel: { when: 'text' },
    expect: aborted,
  },
  {
    name: 'never answers the cancel',
    script: prompt(HELLO, ...SILENT),
    options: SHORT,
    cancel: { when: 'text' },
    expect: aborted,
  },
  {
    name: 'never answers the cancel, and ignores whatever ends it',
    script: { ...prompt({ fork: { trapTerm: true } }, HELLO, ...SILENT), ...STUBBORN },
    options: SHORT,
    cancel: { when: 'text' },
    expect: aborted,
  },
  {
    name: 'talks on after the cancel',
    script: prompt(HELLO, UNTIL_CANCEL, { repeat: 1_000, steps: [{ text: '!' }, { wait: 20 }] }),
    options: SHORT,
    cancel: { when: 'text' },
    expect: { stopReason: 'aborted' },
  },
  {
    name: 'dies on cancel',
    script: { ...prompt(HELLO, ...SILENT), cancel: [{ stderr: 'no more\n' }, { exit: 3 }] },
    cancel: { when: 'text' },
    expect: aborted,
  },
  {
    name: 'is killed on cancel',
    script: { ...prompt(HELLO, ...SILENT), cancel: [{ kill: 'SIGKILL' }] },
    cancel: { when: 'text' },
    expect: aborted,
  },
  {
    name: 'asks for permission after the cancel',
    script: prompt(HELLO, UNTIL_CANCEL, { ask: ['allow_once', 'reject_once'] }, { say: 'outcomes' }, CANCELLED),
    options: { permission: 'allow', deadlines: { cancelGraceMs: 5_000 } },
    cancel: { when: 'text' },
    expect: { stopReason: 'aborted', output: 'hello["cancelled"]' },
  },
];
