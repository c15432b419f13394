import fc from 'fast-check';
import type { AssistantMessage, Message } from '../messages.js';
import { usageOf } from '../model/scripted-model.js';
import type { ModelUsage } from '../model/usage.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { ContextMeter, estimateContextUsage } from './context-meter.js';
import type { MessageTokenEstimator } from './token-estimator.js';

const SYS: Message = { role: 'system', content: 'SYS' };
const TOOL: ToolDefinition = { name: 'add', description: 'adds', effect: 'read_only' };

function user(content: string): Message {
  return { role: 'user', content };
}

function said(content: string, usage: ModelUsage | null = null): AssistantMessage {
  return { role: 'assistant', content, toolCalls: [], usage };
}

const someMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.string().map(user),
  fc.tuple(fc.string(), fc.option(fc.integer({ min: 0, max: 300 }))).map(([content, tokens]) => {
    return said(content, tokens === null ? null : usageOf(tokens, 0));
  }),
);

describe('ContextMeter', () => {
  it('estimates everything without a report', () => {
    expect(estimateContextUsage([SYS, user('one')])).toEqual({
      totalTokens: 25,
      source: 'estimated',
      reportedTokens: null,
      estimatedTokens: 25,
      messageCount: 2,
    });
  });

  it('adds what came after the newest report to it', () => {
    const messages = [SYS, user('one'), said('a', usageOf(40, 10)), user('two')];
    expect(estimateContextUsage(messages)).toMatchObject({
      totalTokens: 62,
      source: 'mixed',
      reportedTokens: 50,
      estimatedTokens: 12,
    });
  });

  it('does not go below the estimate of everything', () => {
    const messages = [SYS, user('one'), said('a'.repeat(400), usageOf(9, 1)), user('two')];
    expect(estimateContextUsage(messages)).toMatchObject({ totalTokens: 150, source: 'mixed', estimatedTokens: 140 });
  });

  it('is all reported if nothing came after the report', () => {
    const messages = [SYS, user('one'), said('a', usageOf(4_000, 10))];
    expect(estimateContextUsage(messages, [TOOL])).toMatchObject({
      totalTokens: 4_010,
      source: 'reported',
      estimatedTokens: 0,
    });
  });

  it.each<[number, readonly Message[]]>([
    [50, [user('one'), said('a', usageOf(9, 1)), user('two')]],
    [125, [user('one'), said('a'.repeat(300), usageOf(9, 1)), user('two')]],
    [
      226,
      [
        user('one'),
        said('a'.repeat(300), usageOf(9, 1)),
        user('two'),
        said('b'.repeat(300), usageOf(9, 1)),
        user('three'),
      ],
    ],
    [
      276,
      [
        user('one'),
        said('a'.repeat(400), usageOf(9, 1)),
        user('two'),
        said('b'.repeat(400), usageOf(9, 1)),
        user('three'),
      ],
    ],
    [5_013, [user('one'), said('a', usageOf(49, 1)), user('two'), said('b', usageOf(4_999, 1)), user('three')]],
  ])('comes to %d tokens as the original does', (tokens, history) => {
    expect(estimateContextUsage([SYS, ...history])).toMatchObject({ totalTokens: tokens, source: 'mixed' });
  });

  it('passes over answers without a report, and over reports of nothing or of half', () => {
    const half: ModelUsage = { ...usageOf(1, 1), totalTokens: null, outputTokens: null };
    const messages = [SYS, said('a', usageOf(90, 10)), said('b'), said('c', usageOf(0, 0)), said('d', half)];
    expect(estimateContextUsage(messages).reportedTokens).toBe(100);
  });

  it('adds input and output up where the total is missing', () => {
    expect(estimateContextUsage([said('a', { ...usageOf(90, 10), totalTokens: null })]).reportedTokens).toBe(100);
  });

  it('counts tools, and notices when they change', () => {
    const meter = new ContextMeter();
    const tools = [TOOL];
    const without = meter.measure([SYS], []).totalTokens;
    const one = meter.measure([SYS], tools).totalTokens;
    tools.push({ ...TOOL, name: 'subtract' });
    const two = meter.measure([SYS], tools).totalTokens;
    expect(without).toBeLessThan(one);
    expect(one).toBeLessThan(two);
    expect(meter.leadingTokens).toBe(two);
  });

  it('knows what leads a request, not counting its history', () => {
    const meter = new ContextMeter();
    expect(meter.leadingTokens).toBe(0);
    const tools = meter.measure([], [TOOL]).totalTokens;
    meter.measure([SYS, SYS, user('one'), SYS], [TOOL]);
    expect(meter.leadingTokens).toBe(tools + 26);
    meter.measure([user('one'), SYS], []);
    expect(meter.leadingTokens).toBe(0);
  });

  it('asks the estimator for new messages only, and for tools only when they changed', () => {
    const asked: unknown[] = [];
    const estimator: MessageTokenEstimator = {
      estimateMessage: (message) => asked.push(message),
      estimateTools: (tools) => asked.push(tools),
    };
    const meter = new ContextMeter(estimator);
    const history = [SYS, user('one')];
    meter.measure(history, [TOOL]);
    asked.length = 0;
    history.push(user('two'));
    meter.measure([...history], [TOOL]);
    expect(asked).toEqual([user('two')]);
  });

  it('measures whatever it measured before as if it were new', () => {
    const context = fc.array(someMessage, { maxLength: 12 });
    const edit = fc.tuple(fc.nat(12), context);
    fc.assert(
      fc.property(context, fc.array(edit, { maxLength: 6 }), fc.boolean(), (first, edits, inPlace) => {
        const meter = new ContextMeter();
        let messages = first;
        expect(meter.measure(messages, [TOOL])).toEqual(estimateContextUsage(messages, [TOOL]));
        for (const [keep, more] of edits) {
          if (inPlace) messages.splice(keep, messages.length, ...more);
          else messages = [...messages.slice(0, keep), ...more];
          expect(meter.measure(messages, [TOOL])).toEqual(estimateContextUsage(messages, [TOOL]));
        }
      }),
    );
  });
});
