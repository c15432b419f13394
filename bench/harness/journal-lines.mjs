import { createHash, randomUUID } from 'node:crypto';

const COUNTERS = {
  cache_read_tokens: null,
  cache_write_tokens: null,
  input_tokens: 100,
  output_tokens: 10,
  reasoning_tokens: null,
  total_tokens: 110,
};

const sorted = (_key, value) =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** A finished run of about `messages` messages as a journal that was written long ago. */
export function journalLines({ sessionId, agentId, messages }) {
  const lines = [];
  let parent = null;
  const add = (type, sequence, data) => {
    const id = randomUUID().replaceAll('-', '');
    const record = {
      agent_id: agentId,
      branch_id: 'main',
      data,
      journal_schema_version: 1,
      parent_id: parent,
      record_id: id,
      revision: lines.length + 1,
      sequence,
      session_id: sessionId,
      type,
    };
    lines.push(JSON.stringify(record, sorted));
    parent = id;
  };
  add('run_started', 1, { run_id: 'r0', task: 'go' });
  for (let at = 0; at < Math.floor((messages - 1) / 2); at += 1) {
    const call = { id: `p${at}`, type: 'function', function: { name: 'noop', arguments: `{"i": ${at}}` } };
    const message = { role: 'assistant', content: 'working', tool_calls: [call], usage: COUNTERS };
    add('message_appended', 5 * at + 3, { run_id: 'r0', message });
    add('messages_appended', 5 * at + 5, {
      run_id: 'r0',
      messages: [{ role: 'tool', tool_call_id: `p${at}`, content: 'ok' }],
    });
  }
  add('run_finished', 5 * messages + 9, {
    run_id: 'r0',
    result: {
      status: 'completed',
      stop_reason: 'text_response',
      turns: 1,
      output: 'x',
      error: null,
      usage: { ...COUNTERS, request_count: 1, reported_request_count: 1 },
    },
  });
  return { file: `${createHash('sha256').update(sessionId).digest('hex')}.jsonl`, text: `${lines.join('\n')}\n` };
}
