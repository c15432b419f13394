import type { SubagentUpdate } from '@parley/harness';
import { OutputText } from './output-text.js';
import { UpdateMapping } from './update-mapping.js';

function read(...updates: unknown[]): { told: SubagentUpdate[]; output: string } {
  const told: SubagentUpdate[] = [];
  const output = new OutputText(1_000_000);
  const mapping = new UpdateMapping(output, (update) => told.push(update));
  for (const update of updates) mapping.read(update);
  return { told, output: output.text };
}

const text = (what: string, more: object = {}): object => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text: what },
  ...more,
});
const thought = (what: string): object => ({ ...text(what), sessionUpdate: 'agent_thought_chunk' });
const tool = (toolCallId: string, more: object = {}): object => ({ sessionUpdate: 'tool_call', toolCallId, ...more });
const toolUpdate = (toolCallId: string, status: string): object => ({
  sessionUpdate: 'tool_call_update',
  toolCallId,
  status,
});

describe('updates of a child', () => {
  it('are text, which is also the output, and thoughts, which are not', () => {
    expect(read(thought('hm'), text('It is '), thought('so'), text('42'))).toEqual({
      told: [
        { kind: 'thought', text: 'hm' },
        { kind: 'text', text: 'It is ' },
        { kind: 'thought', text: 'so' },
        { kind: 'text', text: '42' },
      ],
      output: 'It is 42',
    });
  });

  it('are tool calls, from their beginning to the first word of their end', () => {
    const updates = [
      tool('a', { title: 'Read a file', name: 'read', status: 'pending' }),
      toolUpdate('a', 'in_progress'),
      toolUpdate('a', 'completed'),
      toolUpdate('a', 'completed'),
      tool('b', { title: 'Write a file' }),
      toolUpdate('b', 'failed'),
    ];
    expect(read(...updates).told).toEqual([
      { kind: 'tool_started', callId: 'a', tool: 'read' },
      { kind: 'tool_completed', callId: 'a', tool: 'read', failed: false },
      { kind: 'tool_started', callId: 'b', tool: 'Write a file' },
      { kind: 'tool_completed', callId: 'b', tool: 'Write a file', failed: true },
    ]);
  });

  it('are tool calls too that begin with an update, or are at their end at once', () => {
    expect(read(toolUpdate('a', 'in_progress'), tool('b', { status: 'completed' })).told).toEqual([
      { kind: 'tool_started', callId: 'a', tool: 'tool' },
      { kind: 'tool_started', callId: 'b', tool: 'tool' },
      { kind: 'tool_completed', callId: 'b', tool: 'tool', failed: false },
    ]);
  });

  it('keep narration and answer apart, where a tool call that goes on or ends parts nothing', () => {
    expect(read(text('I look.'), tool('a'), toolUpdate('a', 'completed'), text('It is 42')).output).toBe('It is 42');
    expect(read(tool('a'), text('It is '), toolUpdate('a', 'completed'), text('42')).output).toBe('It is 42');
    expect(read(text('I look.', { messageId: '1' }), text('It is 42', { messageId: '2' })).output).toBe('It is 42');
  });

  it('are passed over where they are of an unknown or broken shape', () => {
    const updates = [null, 7, {}, { sessionUpdate: 'new_thing' }, { sessionUpdate: 'agent_message_chunk' }];
    const broken = [
      text('', { content: { type: 'text', text: 42 } }),
      text('', { content: { type: 'image', data: 'AAAA' } }),
      tool('', { toolCallId: 7 }),
      { ...text('what you said'), sessionUpdate: 'user_message_chunk' },
      text('hello', { messageId: 7 }),
    ];
    expect(read(...updates, ...broken)).toEqual({ told: [{ kind: 'text', text: 'hello' }], output: 'hello' });
  });

  it('come in pieces that a reader can hold, while the output stays whole', () => {
    const long = 'x'.repeat(20_000);
    const { told, output } = read(text(long));
    expect(told.map((update) => ('text' in update ? update.text.length : 0))).toEqual([8_192, 8_192, 3_616]);
    expect(output).toBe(long);
  });

  it('remember no more calls than a child can have at a time', () => {
    const calls = Array.from({ length: 1_001 }, (_, i) => tool(`${i}`));
    const { told } = read(...calls, toolUpdate('1000', 'completed'), toolUpdate('0', 'completed'));
    expect(told.slice(-3).map(({ kind }) => kind)).toEqual(['tool_completed', 'tool_started', 'tool_completed']);
  });
});
