import { renderTree } from './render-tree.js';
import { chained, event, foreignTurn, ROOT_ID, TRACE_ID } from './sample-turn.test-helper.js';
import { toAtif } from './to-atif.js';
import { toOtlp } from './to-otlp.js';
import type { OtlpSpan } from './otlp-types.js';

const spansOf = (...args: Parameters<typeof toOtlp>): readonly OtlpSpan[] =>
  toOtlp(...args).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

function attributeOf(span: OtlpSpan | undefined, key: string): unknown {
  const value = span?.attributes.find((one) => one.key === key)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}

describe('the tree', () => {
  it('shows names, durations, status, exit codes and usage', () => {
    expect(renderTree(foreignTurn())).toBe(
      [
        'turn  1.90 s  ok',
        '├─ chat gpt-x  200.0 ms  ok  11 in / 7 out',
        '├─ add  10.0 ms  ok',
        '├─ bash  1.50 s  ERROR  exit 3',
        '└─ chat gpt-x  70.0 ms  ok  21 in / 5 out  9 cached',
      ].join('\n'),
    );
  });

  it('shows an open turn, and lets no name drive the terminal', () => {
    const evil = event('a\u001b[2Jb\n└─ fake', [0, 1], { 'gen_ai.operation.name': 'execute_tool' });
    expect(renderTree([evil])).toBe('turn  (open)\n└─ a?[2Jb?└─ fake  1.0 ms  ok');
  });
});

describe('OTLP', () => {
  it('has the ids of the record, all below `turn opened`', () => {
    const spans = spansOf(chained(foreignTurn()), { 'service.name': 'proxy' });
    expect(spans.map(({ name }) => name)).toEqual([
      'turn opened',
      'chat gpt-x',
      'execute_tool add',
      'execute_tool bash',
      'chat gpt-x',
      'invoke_agent',
    ]);
    const [root, ...below] = spans;
    expect(root).toMatchObject({ traceId: TRACE_ID, spanId: ROOT_ID });
    // Jaeger warns of a span that takes no time.
    expect(BigInt(root?.endTimeUnixNano ?? 0) - BigInt(root?.startTimeUnixNano ?? 0)).toBe(1_000n);
    for (const span of below) expect(span).toMatchObject({ traceId: TRACE_ID, parentSpanId: ROOT_ID });
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  it('gives events without ids some that are the same each time', () => {
    const spans = spansOf(foreignTurn(), {});
    expect(spansOf(foreignTurn(), {})).toEqual(spans);
    for (const span of spans)
      expect(span).toMatchObject({
        traceId: /^[0-9a-f]{32}$/.exec(span.traceId)?.[0],
        spanId: /^[0-9a-f]{16}$/.exec(span.spanId)?.[0],
      });
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  it('carries exact times, usage, messages, arguments, results and failures', () => {
    const [, chat, add, bash, , turn] = spansOf(foreignTurn(), {});
    expect(chat?.endTimeUnixNano).toBe(`${String(BigInt(Date.parse('2026-11-29T21:36:03Z')) / 1000n)}200000000`);
    expect(attributeOf(chat, 'gen_ai.usage.input_tokens')).toBe('11');
    expect(JSON.parse(String(attributeOf(chat, 'gen_ai.output.messages')))).toEqual([
      {
        role: 'assistant',
        finish_reason: 'tool_calls',
        parts: [
          { type: 'reasoning', content: 'Let me add.' },
          { type: 'text', content: 'Adding, then greeting.' },
          { type: 'tool_call', id: 'call_1', name: 'add', arguments: { a: 2, b: 3 } },
          { type: 'tool_call', id: 'call_2', name: 'bash', arguments: { command: 'exit 3', why: 'to see' } },
        ],
      },
    ]);
    expect(attributeOf(add, 'gen_ai.tool.call.arguments')).toBe('{"a":2,"b":3}');
    expect(attributeOf(add, 'gen_ai.tool.call.result')).toBe('5');
    expect(bash?.status.code).toBe(2);
    expect(attributeOf(bash, 'error.type')).toBe('_OTHER');
    expect(JSON.parse(String(attributeOf(turn, 'gen_ai.input.messages')))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'What is 2+3?' }] },
    ]);
    expect(attributeOf(turn, 'gen_ai.operation.name')).toBe('invoke_agent');
  });

  it('cuts texts between characters, and messages so that they stay JSON', () => {
    const long = '你'.repeat(1_000);
    const events = [
      event('chat', [0, 1], {
        'gen_ai.operation.name': 'chat',
        'gen_ai.completion': JSON.stringify({
          content: [
            { type: 'text', text: long },
            { type: 'tool_use', id: 'c', name: 'n', input: { long } },
          ],
        }),
      }),
      event('n', [0, 1], {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.completion': JSON.stringify({ output: long }),
      }),
    ];
    const [, chat, action] = spansOf(events, {}, { maxTextBytes: 100 });
    expect(attributeOf(action, 'gen_ai.tool.call.result')).toBe(`${'你'.repeat(33)}… (3000 bytes in all)`);
    const [message] = JSON.parse(String(attributeOf(chat, 'gen_ai.output.messages'))) as {
      parts: { content?: string }[];
    }[];
    expect(message?.parts[0]?.content).toBe(`${'你'.repeat(33)}… (3000 bytes in all)`);
    expect(JSON.stringify(message).length).toBeLessThan(400);
  });

  it('leaves content out where it is asked to', () => {
    const text = JSON.stringify(toOtlp(foreignTurn(), {}, { content: false }));
    for (const content of ['terse', '2+3', 'greeting', 'oops', 'exit 3']) expect(text).not.toContain(content);
    expect(text).toContain('gen_ai.usage.input_tokens');
  });
});

describe('ATIF', () => {
  it('has the prompts, each model call with its calls and what came of them, and sums', () => {
    expect(toAtif(foreignTurn(), { sessionId: 's' })).toEqual({
      schema_version: 'ATIF-v1.7',
      session_id: 's',
      agent: { name: 'agentenv-proxy', version: '1.0.0', model_name: 'gpt-x' },
      steps: [
        { step_id: 1, timestamp: foreignTurn()[4]?.start_time, source: 'system', message: 'You are terse.' },
        { step_id: 2, timestamp: foreignTurn()[4]?.start_time, source: 'user', message: 'What is 2+3?' },
        {
          step_id: 3,
          timestamp: foreignTurn()[0]?.end_time,
          source: 'agent',
          model_name: 'gpt-x',
          message: 'Adding, then greeting.',
          reasoning_content: 'Let me add.',
          tool_calls: [
            { tool_call_id: 'call_1', function_name: 'add', arguments: { a: 2, b: 3 } },
            { tool_call_id: 'call_2', function_name: 'bash', arguments: { command: 'exit 3', why: 'to see' } },
          ],
          observation: {
            results: [
              { source_call_id: 'call_1', content: '5' },
              { source_call_id: 'call_2', content: 'oops', extra: { status: 'ERROR', exit_code: 3 } },
            ],
          },
          metrics: { prompt_tokens: 11, completion_tokens: 7 },
          llm_call_count: 1,
        },
        {
          step_id: 4,
          timestamp: foreignTurn()[3]?.end_time,
          source: 'agent',
          model_name: 'gpt-x',
          message: '5',
          metrics: { prompt_tokens: 21, completion_tokens: 5, cached_tokens: 9 },
          llm_call_count: 1,
        },
      ],
      final_metrics: { total_prompt_tokens: 32, total_completion_tokens: 12, total_cached_tokens: 9, total_steps: 4 },
    });
  });

  it('makes steps of actions that no call asked for, and of a reply that no call said', () => {
    const [, add, , , turn] = foreignTurn();
    const { steps } = toAtif([add, turn].filter((one) => one !== undefined));
    expect(steps.map(({ source, llm_call_count: count }) => [source, count])).toEqual([
      ['system', undefined],
      ['user', undefined],
      ['agent', 0],
      ['agent', 0],
    ]);
    expect(steps[2]?.tool_calls?.[0]?.tool_call_id).toBe(steps[2]?.observation?.results[0]?.source_call_id);
    expect(steps[3]?.message).toBe('5');
  });
});
