import type { AgentEventPayload } from '@parley/harness';
import { event, runResult, toolCall, toolResult, usage } from '../../test-support/fake-agent.js';
import { type Activity, follow, noActivity, withQueued, withWait } from './activity.js';
import type { Block } from './block.js';
import { fullArguments, shortArguments } from './describe-call.js';
import { outcomeOf, previewOf } from './describe-result.js';
import { renderEvent, renderTool } from './render-event.js';
import { renderHistory } from './render-history.js';

/** Blocks as plain text. */
function plain(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      if (block.type === 'gap') return '';
      if (block.type === 'line') return block.line.map(({ text }) => text).join('');
      if (block.type === 'stream') return block.text;
      const blanks = ' '.repeat(block.indent);
      return (block.mark ?? blanks) + block.text.replaceAll('\n', `\n${blanks}`);
    })
    .join('\n')
    .trim();
}

function rendered(payload: AgentEventPayload, activity: Activity = noActivity, now = 0): string {
  return plain(renderEvent(event(payload), activity, now));
}

function followed(...payloads: AgentEventPayload[]): Activity {
  return payloads.reduce((activity, payload) => follow(activity, event(payload), 1_000), noActivity);
}

const call = toolCall('read_file', { path: 'a.txt' });
const started = { kind: 'tool_started', turn: 1, toolCall: call } as const;

describe('renderEvent', () => {
  it('shows what was asked, row by row', () => {
    expect(rendered({ kind: 'agent_started', task: 'first\nsecond' })).toBe('> first\n  second');
  });

  it('shows steering where it was applied, and what became of the rest', () => {
    const control = { inputId: 'x', kind: 'steering', content: 'use tabs' } as const;
    expect(rendered({ kind: 'steering_applied', control, targetTurn: 2 })).toBe('> use tabs\n  (steering)');
    expect(rendered({ kind: 'steering_discarded', control, reason: 'max_steps' })).toBe(
      'not applied (max_steps): use tabs',
    );
  });

  it('shows an answer once: streamed, or whole when no delta came', () => {
    const message = { role: 'assistant', content: 'hello', toolCalls: [] } as const;
    const completed = { kind: 'message_completed', turn: 1, message, usage: null, finishReason: 'stop' } as const;
    expect(rendered(completed)).toBe('hello');
    const delta = { kind: 'assistant_text_delta', turn: 1, delta: 'hello' } as const;
    expect(rendered(delta)).toBe('hello');
    expect(rendered(completed, followed(delta))).toBe('');
    expect(rendered(completed, followed(delta, { kind: 'turn_started', turn: 2 }))).toBe('hello');
  });

  it('shows a tool when it is done, with the time it took', () => {
    const done = { kind: 'tool_completed', turn: 1, toolCall: call, result: toolResult('x\ny') } as const;
    expect(rendered(done, followed(started), 3_500)).toBe('✓ read_file 2.5 s  a.txt\n  │ x\n  │ y');
  });

  it('does not count the time in which somebody was asked', () => {
    const done = { kind: 'tool_completed', turn: 1, toolCall: call, result: toolResult('x') } as const;
    expect(rendered(done, withWait(followed(started), 'c1', 2_000), 3_500)).toContain('0.5 s');
  });

  it('says why a run did not complete', () => {
    const failed = runResult({ status: 'failed', stopReason: 'max_steps', error: 'limit of 3', output: null });
    expect(rendered({ kind: 'agent_finished', result: failed })).toContain('failed (max_steps): limit of 3');
    const stopped = runResult({ status: 'cancelled', stopReason: 'external_abort', error: 'by the user' });
    expect(rendered({ kind: 'agent_finished', result: stopped })).toContain('aborted: by the user');
  });

  it('shows the output of a tool that ended the run, and no plain answer twice', () => {
    const byTool = runResult({ stopReason: 'tool_completion', output: 'result' });
    expect(rendered({ kind: 'agent_finished', result: byTool }, followed(), 500)).toBe(
      'result\n\n1 turn · 15 tokens · 0.5 s',
    );
    expect(rendered({ kind: 'agent_finished', result: runResult() })).not.toContain('done');
  });

  it('calls usage unknown that no provider reported', () => {
    const result = runResult({ usage: { ...usage, totalTokens: null } });
    expect(rendered({ kind: 'agent_finished', result })).toContain('unknown tokens');
  });

  it.each([
    ['completed', 'a summary stands for 7 messages'],
    ['skipped', 'nothing that could be summarised'],
    ['cancelled', 'compaction cancelled'],
    ['failed', 'compaction failed: no model'],
  ] as const)('tells a %s compaction', (status, expected) => {
    const summary = { content: 's', source: 'm', historyStart: 0, firstKept: 7, messageCount: 7, tokensBefore: 9 };
    const result = { operationId: 'x', trigger: 'explicit', status, summary, error: 'no model' } as const;
    expect(rendered({ kind: status === 'failed' ? 'compaction_failed' : 'compaction_completed', result })).toContain(
      expected,
    );
  });

  it('marks a run that continues, and is silent about what nobody needs to see', () => {
    expect(rendered({ kind: 'turn_completed', turn: 1 })).toBe('');
    expect(rendered({ kind: 'agent_continued' })).toBe('(continues)');
  });

  it('prints no control character of a model, a tool or a name', () => {
    const evil = 'a\u001b[2J\u009b1;1H\rb';
    const control = { inputId: 'x', kind: 'steering', content: evil } as const;
    const evilCall = { id: evil, name: evil, arguments: JSON.stringify({ [evil]: evil, b: evil }) };
    const payloads: AgentEventPayload[] = [
      { kind: 'agent_started', task: evil },
      { kind: 'steering_applied', control, targetTurn: 1 },
      { kind: 'steering_discarded', control, reason: 'max_steps' },
      { kind: 'tool_completed', turn: 1, toolCall: evilCall, result: toolResult(evil) },
      { kind: 'tool_completed', turn: 1, toolCall: { ...evilCall, arguments: evil }, result: toolResult(evil) },
      {
        kind: 'agent_finished',
        result: runResult({ status: 'failed', stopReason: 'runtime_error', error: evil, output: evil }),
      },
    ];
    for (const payload of payloads) {
      const shown = rendered(payload);
      expect(shown).toMatch(/␛|<9b>/u);
      expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u);
    }
  });
});

describe('follow', () => {
  it('knows what runs', () => {
    const running = followed({ kind: 'agent_started', task: 't' }, started);
    expect(running).toMatchObject({ isRunning: true, since: 1_000, tools: [{ call }] });
    const progressed = follow(
      running,
      event({ kind: 'tool_progressed', turn: 1, toolCall: call, update: { message: 'half' } }),
      2_000,
    );
    expect(progressed.tools).toEqual([{ call, since: 1_000, progress: 'half' }]);
    const ended = follow(progressed, event({ kind: 'agent_finished', result: runResult() }), 3_000);
    expect(ended).toMatchObject({ isRunning: false, tools: [] });
  });

  it('knows what is queued until it was applied or discarded', () => {
    const queued = withQueued(withQueued(noActivity, 'x', 'one'), 'y', 'two');
    const control = { inputId: 'x', kind: 'steering', content: 'one' } as const;
    const left = follow(queued, event({ kind: 'steering_applied', control, targetTurn: 2 }), 0);
    expect(left.queued).toEqual([{ inputId: 'y', content: 'two' }]);
  });
});

describe('shortArguments', () => {
  it.each([
    ['one value stands for itself', { command: 'ls -la' }, 'ls -la'],
    ['several have names', { path: 'a', limit: 3 }, 'path=a limit=3'],
    ['none are nothing', {}, ''],
    ['line ends go', { command: 'a\n  b' }, 'a b'],
  ])('%s', (_, args, expected) => {
    expect(shortArguments(toolCall('t', args))).toBe(expected);
  });

  it('shows what is no JSON as it is, shortened', () => {
    expect(shortArguments({ arguments: '{"a": ' })).toBe('{"a":');
    expect(shortArguments({ arguments: 'x'.repeat(500) })).toHaveLength(120);
  });
});

describe('fullArguments', () => {
  it('hides nothing', () => {
    expect(fullArguments({ command: 'a\nb', deep: { c: [1] } })).toBe('command: a\n  b\ndeep: {"c":[1]}');
  });
});

describe('outcomeOf', () => {
  it.each([
    ['ok', toolResult('fine')],
    ['failed', toolResult('bad', { error: 'x' })],
    ['failed', toolResult('{"status":"error","error":"x"}')],
    ['failed', toolResult('{"status":"timed_out","error":"x"}')],
    ['failed', toolResult('{"status":"ok","exit_code":1,"output":""}')],
    ['ok', toolResult('{"status":"ok","exit_code":0,"output":""}')],
    ['denied', toolResult('{"status":"rejected","reason":"no"}')],
    ['denied', toolResult('x', { control: 'reject' })],
    ['cancelled', toolResult('x', { cancelled: true })],
  ] as const)('%s', (outcome, result) => {
    expect(outcomeOf(result)).toBe(outcome);
  });
});

describe('previewOf', () => {
  it('shows the first lines and counts the rest', () => {
    expect(previewOf('1\n2\n3\n4\n5\n6\n7\n8\n')).toEqual(['1', '2', '3', '4', '5', '6', '… 2 more lines']);
    expect(previewOf('')).toEqual([]);
    expect(previewOf('x\n'.repeat(100_000)).at(-1)).toBe('… 99994 more lines');
  });

  it('shows the readable part of a structured result', () => {
    expect(previewOf('{"status":"error","tool":"t","error":"no such file"}')).toEqual(['no such file']);
    expect(previewOf('{"exit_code":0,"stdout":"a\\nb\\n","stderr":""}')).toEqual(['a', 'b']);
    expect(previewOf('{"status":"ok","exit_code":2,"output":"a\\n"}')).toEqual(['a', 'exit code 2']);
    expect(previewOf('{"status":"ok","entries":["a.txt","src/"],"truncated":false}')).toEqual(['a.txt', 'src/']);
    expect(previewOf('{"matches":[{"path":"a.txt","line":3,"text":"x"}]}')).toEqual(['a.txt: 3: x']);
    expect(previewOf('{"status":"ok","path":"a.txt","bytes":12}')).toEqual(['path=a.txt bytes=12']);
    expect(previewOf('{"status":"ok","exit_code":0,"output":""}')).toEqual([]);
  });
});

describe('renderHistory', () => {
  it('shows a session as it was', () => {
    const shown = plain(
      renderHistory([
        { role: 'user', content: 'look' },
        { role: 'assistant', content: null, toolCalls: [call] },
        { role: 'tool', toolCallId: 'c1', content: 'text' },
        { role: 'assistant', content: 'it says text', toolCalls: [] },
      ]),
    );
    expect(shown.split('\n').filter((row) => row !== '')).toEqual([
      '> look',
      '✓ read_file  a.txt',
      '  │ text',
      'it says text',
    ]);
    expect(plain(renderTool(call, toolResult('text')))).toBe('✓ read_file  a.txt\n  │ text');
  });

  it('shows the end of a long one', () => {
    const messages = Array.from({ length: 100 }, (_, at) => ({ role: 'user', content: `m${at}` }) as const);
    const shown = plain(renderHistory(messages));
    expect(shown).toContain('… 40 earlier messages');
    expect(shown).not.toContain('m39\n');
    expect(shown).toContain('m40');
  });
});
