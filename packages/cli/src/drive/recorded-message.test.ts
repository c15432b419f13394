import { describeResult, type PlayedTurn, parseExact } from '@parley/proxy-protocol';
import { CallBook } from './call-book.js';
import { recordedMessage, recordedUsage } from './recorded-message.js';
import { TurnTools } from './turn-tools.js';

const book = new CallBook(parseExact);
const tools = new TurnTools(
  undefined as unknown as PlayedTurn,
  [{ name: 'bash' }, { name: 'a.b/c', server: 's', inputSchema: { type: 'object' } }, { name: 'a.b.c', server: 's' }],
  { book, describeResult },
);

function recorded(name: string, text: string, content: string | null = null): unknown {
  return recordedMessage({ role: 'assistant', content, toolCalls: [{ id: 'c', name, arguments: text }] }, tools, book);
}

describe('a message on record', () => {
  it('has the names that the proxy knows, and arguments as they were written', () => {
    const [, odd = { name: '' }, other] = tools.tools;
    expect(odd.name).toMatch(/^a_b_c_[0-9a-f]{8}$/u);
    expect(odd.name).not.toBe(other?.name);
    expect(recorded(odd.name, '{"n":12345678901234567890}')).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'a.b/c', arguments: '{"n":12345678901234567890}' } }],
    });
    expect(tools.nameOf('a.b/c')).toBe(odd.name);
  });

  it.each([
    ['bash', '{"command":'],
    ['bash', '[1]'],
    ['bash', 'NaN'],
    ['bash', '{"cmd":"ls"}'],
    ['bash', '{"command":1}'],
  ])('has a call of %s with %s in its text: as a call it would be waited for', (name, text) => {
    expect(recorded(name, text, 'so')).toEqual({
      role: 'assistant',
      content: `so\n[not a call of bash that can be run: ${text}]`,
    });
  });

  it('has an empty object where the model wrote nothing', () => {
    const [, odd = { name: '' }] = tools.tools;
    expect(recorded(odd.name, ' ')).toMatchObject({ tool_calls: [{ function: { arguments: '{}' } }] });
  });

  it('has reasoning, and the counts that are known', () => {
    const message = { role: 'assistant', content: 'x', toolCalls: [], reasoning: 'because' } as const;
    expect(recordedMessage(message, tools, book)).toEqual({
      role: 'assistant',
      content: 'x',
      reasoning_content: 'because',
    });
    expect(
      recordedUsage({
        inputTokens: 9,
        outputTokens: 2,
        totalTokens: 11,
        cacheReadTokens: 5,
        cacheWriteTokens: null,
        reasoningTokens: 1,
      }),
    ).toEqual({
      prompt_tokens: 9,
      completion_tokens: 2,
      total_tokens: 11,
      prompt_tokens_details: { cached_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 1 },
    });
    expect(recordedUsage(null)).toBeNull();
  });

  it('makes actions of its calls digit by digit', () => {
    const [, odd = { name: '' }] = tools.tools;
    book.keep([{ id: 'c', name: odd.name, arguments: '{"n":1.0,"big":12345678901234567890}' }]);
    const action = tools.actionOf(odd.name, book.argumentsOf('c') ?? {});
    expect(JSON.stringify(action)).toBe(
      '{"kind":"tool","server":"s","name":"a.b/c","arguments":{"n":1.0,"big":12345678901234567890}}',
    );
    expect(() => tools.actionOf('bash', { cmd: 'ls' })).toThrow(/a command is needed/u);
  });
});
