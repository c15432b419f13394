import { messageFromJson } from './message-codec.js';
import { sessionFromJson } from './session-codec.js';
import { SessionSerializationError } from './session-errors.js';

describe('a session document', () => {
  const empty = { session_id: 's1', agent_id: 'core', entries: [], runs: [], compactions: [] };
  const compaction = {
    operation_id: 'op',
    sequence: 1,
    summary: {},
    messages: [],
    covered_entry_count: 0,
  };
  const summary = {
    content: 'S',
    source: 'm',
    history_start_index: 0,
    first_kept_index: 1,
    summarized_message_count: 1,
    tokens_before: 9,
  };

  it('gives a session that has no place in a journal yet', () => {
    expect(sessionFromJson({ schema_version: 1, session: empty })).toEqual({
      sessionId: 's1',
      agentId: 'core',
      branchId: 'main',
      messages: [],
      entries: [],
      runs: [],
      compactions: [],
      revision: 0,
      headId: null,
    });
  });

  it('takes a run without intent for a task, as older documents mean it', () => {
    const run = { run_id: 'r1', task: 't', start_sequence: 1 };
    expect(sessionFromJson({ schema_version: 1, session: { ...empty, runs: [run] } }).runs).toEqual([
      { runId: 'r1', intent: 'task', task: 't', startSequence: 1, finishSequence: null, finished: false, result: null },
    ]);
  });

  it.each([
    ['no object', null],
    ['another version', { schema_version: 2, session: empty }],
    ['no version', { session: empty }],
    ['no session', { schema_version: 1 }],
    ['a blank id', { schema_version: 1, session: { ...empty, session_id: ' ' } }],
    ['no entries', { schema_version: 1, session: { ...empty, entries: undefined } }],
    [
      'an entry without a message',
      { schema_version: 1, session: { ...empty, entries: [{ run_id: 'r', sequence: 1 }] } },
    ],
    [
      'an unknown intent',
      { schema_version: 1, session: { ...empty, runs: [{ run_id: 'r', intent: 'x', start_sequence: 1 }] } },
    ],
    ['a compaction without a summary', { schema_version: 1, session: { ...empty, compactions: [compaction] } }],
    [
      'a compaction that covers too much',
      { schema_version: 1, session: { ...empty, compactions: [{ ...compaction, summary, covered_entry_count: 1 }] } },
    ],
  ])('is refused with %s', (_name, document) => {
    expect(() => sessionFromJson(document)).toThrow(SessionSerializationError);
  });
});

describe('a stored message', () => {
  it('may have content in parts', () => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(messageFromJson({ role: 'user', content }, 'm')).toEqual({ role: 'user', content: 'ab' });
  });

  it('may hold fields that nobody knows', () => {
    expect(messageFromJson({ role: 'user', content: 'a', _legacy: 1 }, 'm')).toEqual({ role: 'user', content: 'a' });
    expect(messageFromJson({ role: 'assistant', tool_calls: null, usage: null }, 'm')).toEqual({
      role: 'assistant',
      content: null,
      toolCalls: [],
    });
  });

  it.each([
    ['an unknown role', { role: 'robot', content: 'a' }],
    ['no content', { role: 'user' }],
    ['a part without text', { role: 'user', content: [{ type: 'image' }] }],
    ['a call without a function', { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] }],
    ['half a count of tokens', { role: 'assistant', content: 'a', usage: { input_tokens: 0.5 } }],
    ['a tool message without its call', { role: 'tool', content: 'a' }],
  ])('is refused with %s', (_name, message) => {
    expect(() => messageFromJson(message, 'm')).toThrow(SessionSerializationError);
  });
});
