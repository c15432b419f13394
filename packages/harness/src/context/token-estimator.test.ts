import fc from 'fast-check';
import type { Message } from '../messages.js';
import { summaryMessage } from './summary-message.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { cachedEstimator, HeuristicMessageTokenEstimator } from './token-estimator.js';

const estimator = new HeuristicMessageTokenEstimator();

function wire(message: Message): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  if (message.role !== 'assistant' || message.toolCalls.length === 0) {
    return { role: message.role, content: message.content };
  }
  const calls = message.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return { role: 'assistant', content: message.content, tool_calls: calls };
}

function tokensOf(value: unknown, overhead: number): number {
  const points = Array.from(JSON.stringify(value));
  const ascii = points.filter((point) => point <= '\u007f').length;
  return overhead + Math.ceil(ascii / 4 + (points.length - ascii));
}

const text = fc.string({ unit: 'binary', maxLength: 40 });
const call = fc.record({ id: text, name: text, arguments: text });
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom('system' as const, 'user' as const), content: text }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: fc.option(text),
    toolCalls: fc.array(call, { maxLength: 3 }),
  }),
  fc.record({ role: fc.constant('tool' as const), toolCallId: text, content: text }),
);

describe('HeuristicMessageTokenEstimator', () => {
  it.each<[number, Message]>([
    [12, { role: 'user', content: 'one' }],
    [11, { role: 'user', content: '' }],
    [13, { role: 'system', content: 'SYS' }],
    [113, { role: 'assistant', content: 'a'.repeat(400), toolCalls: [] }],
    [38, { role: 'assistant', content: null, toolCalls: [{ id: 'c0', name: 'write', arguments: '{"n": 1}' }] }],
    [
      59,
      {
        role: 'assistant',
        content: 'both',
        toolCalls: [
          { id: 'c1', name: 'read_a', arguments: '{}' },
          { id: 'c2', name: 'read_b', arguments: '{"q":"é"}' },
        ],
      },
    ],
    [18, { role: 'tool', toolCallId: 'c0', content: 'written' }],
    [24, { role: 'user', content: 'Grüße "quoted" \\ back\nline\ttab\u0001\u007f end' }],
    [18, { role: 'user', content: '日本語 😀 text \u2028' }],
    [24, { role: 'tool', toolCallId: 'call_é', content: '{"status": "error"}' }],
  ])('counts %d, as the original does', (expected, given) => {
    expect(estimator.estimateMessage(given)).toBe(expected);
  });

  it('counts tools as the original does', () => {
    const tools: ToolDefinition[] = [
      { name: 'read_a', description: 'r', parameters: { type: 'object' }, effect: 'read_only' },
      {
        name: 'typed',
        description: 'Prüft',
        parameters: {
          type: 'object',
          properties: { n: { type: 'integer' } },
          required: ['n'],
          additionalProperties: false,
        },
        effect: 'side_effecting',
      },
      { name: 'bare', description: 'no schema', effect: 'side_effecting' },
    ];
    expect([0, 1, 2, 3].map((count) => estimator.estimateTools(tools.slice(0, count)))).toEqual([0, 33, 80, 98]);
  });

  it('counts the characters of the JSON that is sent, whatever the texts are', () => {
    fc.assert(
      fc.property(message, (given) => {
        expect(estimator.estimateMessage(given)).toBe(tokensOf(wire(given), 4));
      }),
    );
  });

  it('counts no usage, no metadata of a summary, and reasoning only where it is sent', () => {
    const plain: Message = { role: 'assistant', content: 'x', toolCalls: [] };
    const usage = {
      inputTokens: 1,
      outputTokens: 1,
      totalTokens: 2,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      reasoningTokens: null,
    };
    const rich: Message = { ...plain, reasoning: 'r'.repeat(400), usage };
    expect(estimator.estimateMessage(rich)).toBe(estimator.estimateMessage(plain));
    const counting = new HeuristicMessageTokenEstimator({ countReasoning: true });
    expect(counting.estimateMessage(rich) - counting.estimateMessage(plain)).toBeGreaterThan(100);
    const entry = {
      content: 'S',
      source: 'm'.repeat(400),
      historyStart: 0,
      firstKept: 1,
      messageCount: 1,
      tokensBefore: 9,
    };
    const summary = summaryMessage(entry);
    expect(estimator.estimateMessage(summary)).toBe(
      estimator.estimateMessage({ role: 'system', content: summary.content }),
    );
  });
});

describe('cachedEstimator', () => {
  it('asks once for each message object', () => {
    let asked = 0;
    const cached = cachedEstimator({ estimateMessage: () => ++asked, estimateTools: () => 0 });
    const one: Message = { role: 'user', content: 'x' };
    expect([cached.estimateMessage(one), cached.estimateMessage(one), cached.estimateMessage({ ...one })]).toEqual([
      1, 1, 2,
    ]);
  });
});
