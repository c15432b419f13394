import { parseExact, verifyTrajectory, type TrajectoryEvent } from '@parley/proxy-protocol';
import { silentLogger } from '@parley/service-kit';
import type { Fact, JsonObject } from '../domain/facts.js';
import { asciiJson } from './ascii-json.js';
import { createRecorder, type RecorderOptions } from './create-recorder.js';
import { generalNumber } from './general-number.js';
import type { Recorder } from './recorder-types.js';
import { bashResult, Facts, ROOT_ID, toolResult, TRACE_ID } from './recording.test-helper.js';

function recorder(options: Partial<RecorderOptions> = {}): Recorder {
  return createRecorder({ logger: silentLogger, ...options });
}

function told(facts: readonly Fact[], options: Partial<RecorderOptions> = {}): Recorder {
  const made = recorder(options);
  for (const fact of facts) made.observe(fact);
  return made;
}

const eventsOf = (of: Recorder, taskId = 't'): readonly TrajectoryEvent[] =>
  of.page({ taskId }, 0, 1_000).events as unknown as TrajectoryEvent[];

const attribute = (event: TrajectoryEvent | undefined, name: string): unknown =>
  JSON.parse(event?.attributes[name] as string);

describe('events', () => {
  it('are one for each call, action and turn, in order of ending, the turn’s last', () => {
    const facts = new Facts();
    const made = told([
      facts.submitted({ systemPrompt: 'SP' }),
      facts.opened(),
      facts.recorded(
        [
          { type: 'thinking', thinking: 'why' },
          { type: 'tool_use', id: 'call_0', name: 'add', input: { a: 1 } },
        ],
        {
          model: 'gpt-x',
          usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
        },
      ),
      facts.tool('slow', 'add', { a: 1 }, 'call_0'),
      facts.bash('quick', 'exit 4'),
      facts.ended('quick', bashResult({ exitCode: 4, stdout: 'out', stderr: 'err' })),
      facts.ended('slow', toolResult('it failed', true), 'done', { 'mcp.session.id': 's' }),
      facts.text('done'),
      facts.closed(),
    ]);
    const events = made.whole({ taskId: 't' }) as unknown as readonly TrajectoryEvent[];
    expect(events.map(({ name, status }) => [name, status.status_code])).toEqual([
      ['chat', 'OK'],
      ['bash', 'ERROR'],
      ['add', 'ERROR'],
      ['chat', 'OK'],
      ['turn', 'OK'],
    ]);
    const [chat, bash, add, last, turn] = events;
    expect(attribute(chat, 'gen_ai.completion')).toEqual({
      content: [
        { type: 'thinking', thinking: 'why' },
        { type: 'tool_use', id: 'call_0', name: 'add', input: { a: 1 } },
      ],
    });
    expect(chat?.attributes).toMatchObject({
      'gen_ai.request.model': 'gpt-x',
      'gen_ai.provider.name': 'openai',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.cache_read.input_tokens': 2,
    });
    expect(bash?.attributes['gen_ai.prompt']).toBe('{"input": {"command": "exit 4"}}');
    expect(bash?.attributes['gen_ai.completion']).toBe('{"output": "outerr", "exit_code": 4}');
    expect(attribute(add, 'gen_ai.completion')).toEqual({ error: 'it failed' });
    expect(add?.attributes).toMatchObject({
      'gen_ai.tool.call.id': 'call_0',
      'parley.proxy.action.id': 'slow',
      'parley.proxy.server': 'srv',
      'mcp.session.id': 's',
    });
    expect(last?.attributes['gen_ai.request.model']).toBe('gpt-x');
    expect(attribute(turn, 'gen_ai.prompt')).toEqual({ prompt: 'one\ntwo', system_prompt: 'SP' });
    expect(attribute(turn, 'gen_ai.completion')).toEqual({ content: [{ type: 'text', text: 'bye' }] });
    for (const event of events) expect(event).toMatchObject({ trace_id: TRACE_ID, parent_span_id: ROOT_ID });
    expect(verifyTrajectory(events)).toMatchObject({ outcome: 'verified', isClosed: true });
  });

  it('have times of one width, and a chat begins where the event before it ended', () => {
    const facts = new Facts();
    const events = eventsOf(
      told([
        facts.submitted(),
        facts.opened(),
        facts.text('a'),
        facts.bash('1', 'true'),
        facts.ended('1', bashResult({ exitCode: 0 })),
        facts.text('b'),
        facts.closed(),
      ]),
    );
    expect(events[0]).toMatchObject({
      start_time: '2026-11-29T21:36:03.200002+00:00',
      end_time: '2026-11-29T21:36:03.300003+00:00',
    });
    expect(events[2]?.start_time).toBe(events[1]?.end_time);
    expect(events[3]?.start_time).toBe(events[0]?.start_time);
    for (const event of events) expect(event.start_time).toHaveLength(32);
  });

  it('of a command that timed out begin with the sentence and keep what it had printed', () => {
    const facts = new Facts();
    const result = bashResult({ timedOut: true, stdout: 'so far\n' });
    const [event] = eventsOf(
      told([facts.submitted(), facts.opened(), facts.bash('1', 'x', 0.3), facts.ended('1', result)]),
    );
    expect(attribute(event, 'gen_ai.completion')).toEqual({
      output: 'error: the command timed out after 0.3s\nso far\n',
      exit_code: null,
    });
    expect(event?.attributes['error.type']).toBe('timeout');
  });

  it('are there for a cancelled turn and what was killed in it', () => {
    const facts = new Facts();
    const made = told([
      facts.submitted(),
      facts.opened(),
      facts.bash('1', 'sleep 9'),
      facts.tool('2', 'slow', {}),
      facts.ended('1', bashResult({ exitCode: -9, stdout: 'half' }), 'turn_over'),
      facts.ended('2', toolResult('error: the turn is over', true), 'turn_over'),
      facts.closed({ state: 'canceled' }),
    ]);
    const events = made.whole({ taskId: 't' }) as unknown as readonly TrajectoryEvent[];
    expect(events.map(({ name }) => name)).toEqual(['bash', 'slow', 'turn']);
    for (const event of events) expect(event.status.status_code).toBe('ERROR');
    expect(attribute(events[0], 'gen_ai.completion')).toEqual({ output: 'half', exit_code: -9 });
    expect(made.page({ taskId: 't' }, 0, 10).state).toBe('canceled');
  });

  it('describe what a tool gave back besides text', () => {
    const facts = new Facts();
    const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(5_000) };
    const result = { kind: 'tool', content: [{ type: 'text', text: 'see' }, image], isError: false } as const;
    const [event] = eventsOf(
      told([facts.submitted(), facts.opened(), facts.tool('1', 'shot', {}), facts.ended('1', result)]),
    );
    expect(attribute(event, 'gen_ai.completion')).toEqual({ output: 'see' });
    expect(event?.attributes['parley.proxy.other_content']).toEqual([
      { type: 'image', mime_type: 'image/png', base64_length: 5_000 },
    ]);
  });

  it('keep exact numbers, control characters, and the same digests after a restart', () => {
    const facts = new Facts();
    const input = parseExact(
      '{"big": 12345678901234567890, "one": 1.0, "text": "\\u0000\\u001b\\ud800é"}',
    ) as JsonObject;
    const all = [
      facts.submitted(),
      facts.opened(),
      facts.recorded([{ type: 'tool_use', id: null, name: 'n', input }], {
        usage: parseExact('{"input_tokens": 1.50}') as JsonObject,
      }),
      facts.tool('1', 'n', input),
      facts.ended('1', toolResult('\u0000\u001b')),
      facts.closed(),
    ];
    const events = eventsOf(told(all));
    expect(events[1]?.attributes['gen_ai.prompt']).toBe(
      '{"input": {"big": 12345678901234567890, "one": 1.0, "text": "\\u0000\\u001b\\ud800\\u00e9"}}',
    );
    expect(JSON.stringify(events[0])).toContain('"gen_ai.usage.input_tokens":1.50');
    const again = told(all.map((fact) => parseExact(JSON.stringify(fact)) as unknown as Fact));
    expect(JSON.stringify(eventsOf(again))).toBe(JSON.stringify(events));
  });

  it('never come after the turn’s own', () => {
    const facts = new Facts();
    const late = facts.bash('1', 'true');
    const made = told([facts.submitted(), facts.opened(), late, facts.closed()]);
    made.observe(facts.ended('1', bashResult()));
    expect(eventsOf(made).map(({ name }) => name)).toEqual(['turn']);
  });
});

describe('reads', () => {
  it('go from pending through running to the end', () => {
    const facts = new Facts();
    const made = told([facts.submitted()]);
    expect(made.page({ taskId: 't' }, 0, 10)).toEqual({
      context_id: 'c',
      task_id: 't',
      state: 'pending',
      format: null,
      events: [],
      next: 0,
      has_more: false,
    });
    made.observe(facts.opened());
    expect(made.page({ taskId: 't' }, 0, 10)).toMatchObject({ state: 'pending', format: 'agentenv-proxy/v1' });
    for (const text of ['a', 'b', 'c']) made.observe(facts.text(text));
    expect(made.page({ taskId: 't' }, 1, 1)).toMatchObject({ state: 'running', next: 2, has_more: true });
    expect(made.page({ taskId: 't' }, 3, 1)).toMatchObject({ events: [], next: 3, has_more: false });
    expect(() => made.whole({ taskId: 't' })).toThrow("No completed trajectory available for task 't'");
    made.observe(facts.closed());
    expect(made.page({ taskId: 't' }, 3, 9)).toMatchObject({ state: 'completed', next: 4, has_more: false });
  });

  it('refuse with the sentences and statuses that clients know', () => {
    const made = told(new Facts().whole());
    const refusals: readonly [() => unknown, number, string][] = [
      [() => made.whole({ taskId: 'x' }), 404, "No completed trajectory available for task 'x'"],
      [() => made.whole({ contextId: 'x' }), 404, "Unknown context 'x'"],
      [() => made.page({ taskId: 'x' }, 0, 1), 404, "Unknown task 'x'"],
      [() => made.page({ contextId: 'x' }, 0, 1), 404, "Unknown context 'x'"],
      [() => made.page({ taskId: 't' }, 9, 1), 400, "after=9 is past the trajectory's 2 events"],
    ];
    for (const [read, status, message] of refusals) expect(read).toThrow(expect.objectContaining({ status, message }));
  });

  it('of a task that failed before it opened have its state and no events', () => {
    const facts = new Facts();
    const end = {
      state: 'failed',
      errorCode: 'proxy.unsupported_part',
      errorType: 'agent_error',
      error: 'no',
    } as const;
    const made = told([facts.submitted(), facts.closed(end)]);
    expect(made.page({ taskId: 't' }, 0, 1)).toMatchObject({ state: 'failed', format: null, events: [] });
    expect(() => made.whole({ taskId: 't' })).toThrow('No completed');
  });

  it('of a context go over its tasks in order of opening, also while one runs', () => {
    const first = new Facts('1');
    const withdrawn = new Facts('2');
    const third = new Facts('3');
    const made = told([
      first.submitted(),
      first.opened(),
      withdrawn.submitted(),
      third.submitted(),
      first.text('a'),
      withdrawn.closed({ state: 'canceled' }),
      first.closed(),
      third.opened(),
      third.text('b'),
    ]);
    const names = made.whole({ contextId: 'c' }).map(({ name }) => name);
    expect(names).toEqual(['chat', 'turn', 'chat']);
    const page = made.page({ contextId: 'c' }, 1, 2);
    expect(page).toMatchObject({ task_id: '3', state: 'running', next: 3, has_more: false });
    expect(page.events).toEqual(made.whole({ contextId: 'c' }).slice(1));
    expect(made.page({ contextId: 'c' }, 0, 1)).toMatchObject({ next: 1, has_more: true });
    made.observe(third.closed());
    expect(made.page({ contextId: 'c' }, 0, 1)).toMatchObject({ task_id: '2', state: 'canceled' });
  });

  it('stop at 1,000 events and at 4 MiB, yet always give the first', () => {
    const facts = new Facts();
    const made = told([facts.submitted(), facts.opened()]);
    for (let index = 0; index < 1_005; index += 1) made.observe(facts.text('x'));
    expect(made.page({ taskId: 't' }, 0, 5_000)).toMatchObject({ next: 1_000, has_more: true });
    for (const size of [3_000_000, 3_000_000, 6_000_000, 1_000]) made.observe(facts.text('y'.repeat(size)));
    expect(made.page({ taskId: 't' }, 1_005, 1_000)).toMatchObject({ next: 1_006, has_more: true });
    expect(made.page({ taskId: 't' }, 1_006, 1_000)).toMatchObject({ next: 1_007, has_more: true });
    expect(made.page({ taskId: 't' }, 1_007, 1_000)).toMatchObject({ next: 1_008, has_more: true });
    expect(made.page({ taskId: 't' }, 1_008, 1_000)).toMatchObject({ next: 1_009, has_more: false });
  });
});

describe('what is kept', () => {
  const ended = (made: Recorder, id: string): void => {
    for (const fact of new Facts(id, id).whole()) made.observe(fact);
  };
  const known = (made: Recorder, ids: readonly string[]): readonly string[] =>
    ids.filter((contextId) => {
      try {
        made.page({ contextId }, 0, 1);
        return true;
      } catch {
        return false;
      }
    });

  it('is bounded in contexts: the least recently used goes first, one that is open never', () => {
    const made = recorder({ maxContexts: 3 });
    const open = new Facts('open', 'open');
    made.observe(open.submitted());
    made.observe(open.opened());
    for (const id of ['a', 'b']) ended(made, id);
    made.page({ taskId: 'a' }, 0, 1);
    ended(made, 'c');
    expect(known(made, ['open', 'a', 'b', 'c'])).toEqual(['open', 'a', 'c']);
    expect(() => made.whole({ taskId: 'b' })).toThrow('No completed');
  });

  it('is bounded in bytes, and an open turn is not touched even if it alone is too much', () => {
    const made = recorder({ maxTrajectoryBytes: 10_000 });
    for (const id of ['a', 'b']) ended(made, id);
    const open = new Facts('open', 'open');
    for (const fact of [open.submitted(), open.opened(), open.text('x'.repeat(7_500))]) made.observe(fact);
    expect(known(made, ['a', 'b', 'open'])).toEqual(['b', 'open']);
    for (let count = 0; count < 3; count += 1) made.observe(open.text('x'.repeat(9_000)));
    expect(known(made, ['b', 'open'])).toEqual(['open']);
    expect(made.page({ taskId: 'open' }, 0, 9).events).toHaveLength(4);
  });

  it('of a context shifts by nothing when some of its tasks are forgotten', () => {
    const made = told([...new Facts('1').whole(), ...new Facts('2').whole()]);
    made.observe({ kind: 'turn_forgotten', taskId: '1', at: 1 });
    expect(made.whole({ contextId: 'c' })).toHaveLength(4);
    made.observe({ kind: 'turn_forgotten', taskId: '2', at: 1 });
    expect(known(made, ['c'])).toEqual([]);
  });
});

describe('texts', () => {
  it.each([
    [0.5, '0.5'],
    [600, '600'],
    [3600, '3600'],
    [1234567, '1.23457e+06'],
    [0.00001, '1e-05'],
    [999999.5, '1e+06'],
    [Number.POSITIVE_INFINITY, 'inf'],
  ])('of %d seconds are %s', (seconds, text) => {
    expect(generalNumber(seconds)).toBe(text);
  });

  it('are ASCII with the separators of the reference', () => {
    expect(asciiJson({ a: [1, null, true], 'é\u007f': '😀"\\\n' })).toBe(
      '{"a": [1, null, true], "\\u00e9\\u007f": "\\ud83d\\ude00\\"\\\\\\n"}',
    );
  });
});
