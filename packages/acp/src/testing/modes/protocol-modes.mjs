// Agents that speak the protocol wrong, or another one.
const HELLO = { text: 'hello' };
const END = { answer: 'end_turn' };
const prompt = (...steps) => ({ prompts: [steps] });
const completes = { stopReason: 'completed', output: 'hello' };
const version = (protocolVersion) => [{ result: { protocolVersion, agentCapabilities: {} } }];
const initialized = { result: { protocolVersion: 1, agentCapabilities: {} } };

/** @type {readonly import('./mock-mode.mjs').MockMode[]} */
export const PROTOCOL_MODES = [
  {
    name: 'authentication required by session/new',
    script: { newSession: [{ error: { code: -32000, message: 'Authentication required' } }] },
    expect: { start: '[Aa]uthenticat' },
  },
  {
    name: 'authentication required by the prompt',
    script: prompt({ error: { code: -32000, message: 'Authentication required' } }),
    expect: { stopReason: 'error', diagnostic: '[Aa]uthenticat' },
  },
  { name: 'newer protocol version', script: { initialize: version(2) }, expect: { start: 'version' } },
  { name: 'older protocol version', script: { initialize: version(0) }, expect: { start: 'version' } },
  { name: 'protocol version that is no number', script: { initialize: version('1') }, expect: { start: '\\S' } },
  { name: 'no protocol version', script: { initialize: [{ result: {} }] }, expect: { start: '\\S' } },
  {
    name: 'refuses initialize',
    script: { initialize: [{ error: { code: -32603, message: 'no licence' } }] },
    expect: { start: 'no licence' },
  },
  {
    name: 'session without an id',
    script: { newSession: [{ result: { sessionId: null } }] },
    expect: { start: '\\S' },
  },
  {
    name: 'error as the answer to the prompt',
    script: prompt(HELLO, { error: { code: -32603, message: 'the model is on fire' } }),
    expect: { stopReason: 'error', diagnostic: 'the model is on fire' },
  },
  {
    name: 'error of no known shape',
    script: prompt(HELLO, { error: 'oops' }),
    expect: { stopReason: 'error', diagnostic: '\\S' },
  },
  {
    name: 'log lines before the answer to initialize',
    script: { start: [{ raw: 'starting up\nlistening on stdio\n' }], ...prompt(HELLO, END) },
    expect: completes,
  },
  {
    name: 'log lines among the updates',
    script: prompt({ raw: 'tick\n' }, HELLO, { raw: '\n\r\ntick { "a": \n' }, END),
    expect: completes,
  },
  {
    name: 'JSON that is no message',
    script: prompt({ raw: '{"level":"info"}\n[]\nnull\n42\n"text"\n[{"jsonrpc":"2.0"}]\n' }, HELLO, END),
    expect: completes,
  },
  {
    name: 'lines that end with CRLF',
    script: { ...prompt({ together: [HELLO] }, END), crlf: true },
    expect: completes,
  },
  {
    name: 'nothing but garbage',
    script: { start: [{ repeat: 5_000, steps: [{ raw: 'garbage\n' }] }], initialize: [{ never: true }] },
    expect: { start: '\\S' },
  },
  {
    name: 'garbage in the prompt without end',
    script: prompt(HELLO, { repeat: 5_000, steps: [{ raw: 'garbage\n' }] }, { never: true }),
    expect: { stopReason: 'error', diagnostic: '\\S' },
  },
  {
    name: 'garbage without newline before the answer to initialize',
    script: { initialize: [{ raw: 'loading… ' }, initialized] },
    options: { deadlines: { initializeMs: 800 } },
    expect: { start: '\\S' },
  },
  {
    name: 'half a message, then the end',
    script: prompt(HELLO, { raw: '{"jsonrpc":"2.0","id":2,"resu' }, { exit: 0 }),
    expect: { stopReason: 'error', output: 'hello', diagnostic: '\\S' },
  },
  {
    name: 'line without end',
    script: prompt(HELLO, { repeat: 300, steps: [{ raw: 'x'.repeat(1_000) }] }, { never: true }),
    options: { maxMessageBytes: 100_000 },
    expect: { stopReason: 'error', diagnostic: '\\S' },
  },
  {
    name: 'message over the cap',
    script: prompt({ text: 'x', times: 200_000 }, END),
    options: { maxMessageBytes: 100_000 },
    expect: { stopReason: 'error', diagnostic: '\\S' },
  },
  {
    name: 'large message under the cap',
    script: prompt({ text: 'x', times: 100_000 }, END),
    options: { maxMessageBytes: 300_000, maxOutputBytes: 300_000 },
    expect: { stopReason: 'completed', output: 'x'.repeat(100_000) },
  },
  { name: 'answers twice', script: prompt(HELLO, END, { answer: 'refusal' }), expect: completes },
  {
    name: 'answers with two answers in one write',
    script: prompt(HELLO, { together: [END, { answer: 'refusal' }] }),
    expect: completes,
  },
  {
    name: 'answers with a wrong id',
    script: prompt(HELLO, { result: { stopReason: 'end_turn' }, id: 4711 }, { never: true }),
    options: { deadlines: { idleMs: 500 } },
    expect: { stopReason: 'error', diagnostic: '\\S' },
  },
  {
    name: 'a wrong id first, then the right one',
    script: prompt(HELLO, { result: { stopReason: 'refusal' }, id: 4711 }, END),
    expect: completes,
  },
  {
    name: 'answers the prompt before session/new',
    script: { newSession: [{ answerNext: 'refusal' }, { wait: 20 }, { result: {} }], prompts: [[HELLO, END]] },
    expect: completes,
  },
  {
    name: 'asks for a file that was not offered',
    script: prompt({ request: 'fs/read_text_file', params: { path: '/etc/passwd' } }, { say: 'outcomes' }, END),
    expect: { stopReason: 'completed', output: '[{"code":-32601}]' },
  },
  {
    name: 'asks for a terminal that was not offered',
    script: prompt({ request: 'terminal/create', params: { command: 'id' } }, { say: 'outcomes' }, END),
    expect: { stopReason: 'completed', output: '[{"code":-32601}]' },
  },
  {
    name: 'unknown method and unknown notification',
    script: prompt({ notify: 'weather/changed' }, { request: 'weather/ask' }, { say: 'outcomes' }, END),
    expect: { stopReason: 'completed', output: '[{"code":-32601}]' },
  },
];
