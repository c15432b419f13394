// Agents that end when they should not, or do not end when they should.
const HELLO = { text: 'hello' };
const END = { answer: 'end_turn' };
const prompt = (...steps) => ({ prompts: [steps] });
const completes = { stopReason: 'completed', output: 'hello' };
const COMPLAINT = { stderr: 'warming up\nfatal: the disk is full\n' };
const dies = [COMPLAINT, { exit: 7 }];
const SAYS_WHY = '7[\\s\\S]*the disk is full|the disk is full[\\s\\S]*7';
const ends = { deadlines: { closeMs: 150, termMs: 150 } };
const SILENT = [{ never: true }];
/** Lives on whatever is asked of it. */
const STUBBORN = { eof: [], term: [], stays: true };

/** @type {readonly import('./mock-mode.mjs').MockMode[]} */
export const PROCESS_MODES = [
  { name: 'dies at its start', script: { start: dies }, expect: { start: SAYS_WHY } },
  { name: 'dies in initialize', script: { initialize: dies }, expect: { start: SAYS_WHY } },
  { name: 'dies in session/new', script: { newSession: dies }, expect: { start: SAYS_WHY } },
  {
    name: 'dies in the prompt',
    script: prompt(HELLO, ...dies),
    expect: { stopReason: 'error', output: 'hello', diagnostic: SAYS_WHY },
  },
  {
    name: 'is killed in the prompt',
    script: prompt(HELLO, { kill: 'SIGKILL' }),
    expect: { stopReason: 'error', output: 'hello', diagnostic: 'SIGKILL' },
  },
  {
    name: 'leaves in the prompt with exit code 0',
    script: prompt(HELLO, { exit: 0 }),
    expect: { stopReason: 'error', output: 'hello', diagnostic: '\\b0\\b' },
  },
  {
    name: 'dies right after its answer',
    script: prompt({ together: [HELLO, END] }, { exit: 9 }),
    expect: completes,
  },
  {
    name: 'dies in the prompt, and a child of it holds the pipes',
    script: prompt(HELLO, { fork: { holdPipes: true } }, ...dies),
    expect: { stopReason: 'error', output: 'hello', diagnostic: SAYS_WHY },
  },
  {
    name: 'dies in initialize, and a child of it holds the pipes',
    script: { initialize: [{ fork: { holdPipes: true, setsid: true } }, ...dies] },
    expect: { start: SAYS_WHY },
  },
  {
    name: 'ignores the end of its input',
    script: { ...prompt(HELLO, END), eof: [], stays: true },
    options: ends,
    expect: completes,
  },
  {
    name: 'ignores the end of its input and SIGTERM',
    script: { ...prompt(HELLO, END), ...STUBBORN },
    options: ends,
    expect: completes,
  },
  {
    name: 'floods its output when it should end',
    script: { ...prompt(HELLO, END), ...STUBBORN, eof: [{ repeat: 2_000, steps: [{ raw: 'x'.repeat(1_000) }] }] },
    options: ends,
    expect: completes,
  },
  { name: 'is run by a wrapper', script: prompt(HELLO, END), wrapped: true, expect: completes },
  {
    name: 'is run by a wrapper, and ignores whatever ends it',
    script: { ...prompt(HELLO, ...SILENT), ...STUBBORN },
    wrapped: true,
    options: { deadlines: { idleMs: 400, closeMs: 150, termMs: 150 } },
    expect: { stopReason: 'error', output: 'hello' },
  },
  {
    name: 'is run by a wrapper, and dies in the prompt',
    script: prompt(HELLO, ...dies),
    wrapped: true,
    expect: { stopReason: 'error', output: 'hello', diagnostic: SAYS_WHY },
  },
  { name: 'leaves a child in its group', script: prompt({ fork: {} }, HELLO, END), options: ends, expect: completes },
  {
    name: 'leaves a child in its group that ignores SIGTERM',
    script: prompt({ fork: { trapTerm: true } }, HELLO, END),
    options: ends,
    expect: completes,
  },
  {
    name: 'leaves a child in a session of its own',
    script: prompt({ fork: { setsid: true } }, HELLO, END),
    options: ends,
    expect: completes,
  },
  {
    name: 'leaves an orphan in a session of its own',
    script: prompt({ fork: { setsid: true, orphan: true, trapTerm: true } }, HELLO, END),
    options: ends,
    expect: completes,
  },
  {
    name: 'leaves a child that holds its pipes',
    script: prompt({ fork: { holdPipes: true } }, HELLO, END),
    options: ends,
    expect: completes,
  },
  {
    name: 'never answers initialize',
    script: { initialize: SILENT, ...STUBBORN },
    options: { deadlines: { initializeMs: 800, closeMs: 150, termMs: 150 } },
    expect: { start: 'initialize|the start of its program' },
  },
  {
    name: 'never answers session/new',
    script: { newSession: SILENT },
    options: { deadlines: { newSessionMs: 400 } },
    expect: { start: 'session/new' },
  },
  {
    name: 'is silent in the prompt',
    script: prompt(HELLO, ...SILENT),
    options: { deadlines: { idleMs: 400 } },
    expect: { stopReason: 'error', output: 'hello', diagnostic: '\\S' },
  },
  {
    name: 'never comes to an end of the prompt',
    script: prompt({ repeat: 1_000, steps: [HELLO, { wait: 50 }] }),
    options: { deadlines: { promptMs: 600 } },
    expect: { stopReason: 'error', diagnostic: '\\S' },
  },
  {
    name: 'is silent in the prompt and ignores whatever ends it',
    script: { ...prompt({ fork: { trapTerm: true } }, HELLO, ...SILENT), ...STUBBORN },
    options: { deadlines: { idleMs: 400, cancelGraceMs: 150, closeMs: 150, termMs: 150 } },
    expect: { stopReason: 'error', output: 'hello', diagnostic: '\\S' },
  },
  {
    name: 'closes its output and lives on',
    script: { ...prompt(HELLO, { close: 'stdout' }, ...SILENT), stays: true },
    expect: { stopReason: 'error', output: 'hello', diagnostic: '\\S' },
  },
  {
    name: 'closes its output before initialize and lives on',
    script: { start: [{ close: 'stdout' }], ...STUBBORN },
    options: ends,
    expect: { start: '\\S' },
  },
  {
    name: 'closes its input before initialize, and dies soon',
    script: { start: [{ close: 'stdin' }, { wait: 150 }, ...dies] },
    expect: { start: SAYS_WHY },
  },
  {
    name: 'closes its input before the prompt, and dies soon',
    script: { newSession: [{ close: 'stdin' }, { result: {} }, { wait: 150 }, ...dies] },
    expect: { start: SAYS_WHY },
  },
  {
    name: 'closes its input in session/new',
    script: { newSession: [{ close: 'stdin' }, { result: {} }], stays: true },
    options: { deadlines: { idleMs: 1_000 } },
    expect: { start: '\\S' },
  },
  {
    name: 'closes its input in the prompt, and answers',
    script: { ...prompt(HELLO, { close: 'stdin' }, { wait: 20 }, END), stays: true },
    expect: completes,
  },
];
