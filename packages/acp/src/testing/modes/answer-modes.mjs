// Turns that end with an answer of the agent, of whatever kind.
const HELLO = { text: 'hello' };
const END = { answer: 'end_turn' };
const prompt = (...steps) => ({ prompts: [steps] });
const usage = { sessionUpdate: 'usage_update', used: 10, size: 1000 };
const plan = { sessionUpdate: 'plan', entries: [] };
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

/** @type {readonly import('./mock-mode.mjs').MockMode[]} */
export const ANSWER_MODES = [
  { name: 'end_turn', script: prompt(HELLO, END), expect: { stopReason: 'completed', output: 'hello' } },
  {
    name: 'max_tokens',
    script: prompt(HELLO, { answer: 'max_tokens' }),
    expect: { stopReason: 'max-tokens', output: 'hello' },
  },
  { name: 'refusal', script: prompt(HELLO, { answer: 'refusal' }), expect: { stopReason: 'refusal' } },
  {
    name: 'max_turn_requests',
    script: prompt(HELLO, { answer: 'max_turn_requests' }),
    expect: { stopReason: 'error', output: 'hello', diagnostic: 'max_turn_requests|requests' },
  },
  {
    name: 'cancelled, though nobody asked',
    script: prompt(HELLO, { answer: 'cancelled' }),
    expect: { stopReason: 'aborted', output: 'hello' },
  },
  {
    name: 'unknown stop reason',
    script: prompt(HELLO, { answer: 'coffee_break' }),
    expect: { stopReason: 'error', diagnostic: '\\S' },
  },
  { name: 'no stop reason', script: prompt(HELLO, { result: {} }), expect: { stopReason: 'error', diagnostic: '\\S' } },
  { name: 'null as result', script: prompt({ result: null }), expect: { stopReason: 'error' } },
  {
    name: 'update and answer in one write',
    script: prompt({ together: [{ text: 'one ' }, { text: 'two ' }, { text: 'three' }, END] }),
    expect: { stopReason: 'completed', output: 'one two three' },
  },
  {
    name: 'two hundred updates and the answer in one write',
    script: prompt({ together: [{ repeat: 200, steps: [{ text: 'x' }] }, END] }),
    expect: { stopReason: 'completed', output: 'x'.repeat(200) },
  },
  {
    name: 'update after the answer',
    script: prompt(HELLO, END, { wait: 20 }, { text: ' too late' }),
    expect: { stopReason: 'completed', output: 'hello' },
  },
  {
    name: 'answer and a later update in one write',
    script: prompt(HELLO, { together: [END, { text: ' too late' }] }),
    expect: { stopReason: 'completed', output: 'hello' },
  },
  {
    name: 'update of the session before its prompt',
    script: {
      newSession: [{ text: 'welcome' }, { result: {} }, { text: 'welcome again' }, { wait: 20 }],
      prompts: [[HELLO, END]],
    },
    expect: { stopReason: 'completed' },
  },
  { name: 'no message', script: prompt(END), expect: { stopReason: 'completed', output: '' } },
  {
    name: 'thoughts only',
    script: prompt({ thought: 'hm' }, { thought: 'hm hm' }, END),
    expect: { stopReason: 'completed', output: '' },
  },
  {
    name: 'narration, tool call, answer, with message ids',
    script: prompt(
      { text: 'I will ', messageId: 'm1' },
      { text: 'look.', messageId: 'm1' },
      { tool: 'call-1' },
      { toolUpdate: 'call-1', status: 'completed' },
      { text: 'It is ', messageId: 'm2' },
      { text: '42.', messageId: 'm2' },
      END,
    ),
    expect: { stopReason: 'completed', output: 'It is 42.' },
  },
  {
    name: 'narration, tool call, answer, without message ids',
    script: prompt(
      { text: 'I will look.' },
      { tool: 'call-1' },
      { toolUpdate: 'call-1', status: 'completed' },
      { text: 'It is 42.' },
      END,
    ),
    expect: { stopReason: 'completed', output: 'It is 42.' },
  },
  {
    name: 'updates that are no text',
    script: prompt(
      { echo: 'what you said' },
      { update: usage },
      { update: plan },
      { update: { sessionUpdate: 'agent_message_chunk', content: image } },
      { update: { sessionUpdate: 'available_commands_update', availableCommands: [] } },
      HELLO,
      END,
    ),
    expect: { stopReason: 'completed', output: 'hello' },
  },
  {
    name: 'updates of unknown and broken shape',
    script: prompt(
      { update: { sessionUpdate: 'brand_new_thing', value: 1 } },
      { update: { sessionUpdate: 'agent_message_chunk' } },
      { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 42 } } },
      { update: null },
      { notify: 'session/update', params: {} },
      HELLO,
      END,
    ),
    expect: { stopReason: 'completed', output: 'hello' },
  },
  {
    name: 'updates with the id of another session',
    script: prompt({ text: 'not yours', sessionId: 'another' }, HELLO, END),
    expect: { stopReason: 'completed', output: 'hello' },
  },
  {
    name: 'more text than the cap',
    script: prompt({ repeat: 40, steps: [{ text: 'x'.repeat(1_000) }] }, END),
    options: { maxOutputBytes: 10_000 },
    expect: { stopReason: 'completed', output: 'x'.repeat(10_000) },
  },
  {
    name: 'slow, but never silent',
    script: prompt({ repeat: 15, steps: [{ text: '.' }, { wait: 100 }] }, END),
    options: { deadlines: { idleMs: 1_000 } },
    expect: { stopReason: 'completed', output: '.'.repeat(15) },
  },
  {
    name: 'thinks and works slowly, but is never silent',
    script: prompt(
      {
        repeat: 5,
        steps: [
          { thought: '.' },
          { wait: 100 },
          { tool: 'a' },
          { wait: 100 },
          { toolUpdate: 'a', status: 'in_progress' },
          { wait: 100 },
        ],
      },
      END,
    ),
    options: { deadlines: { idleMs: 1_000 } },
    expect: { stopReason: 'completed', output: '' },
  },
];
