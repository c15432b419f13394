import type { Fact } from './facts.js';
import { withoutRefused, withoutRepeats } from './without-repeats.js';

const taskId = 't';
const submitted: Fact = {
  kind: 'turn_submitted',
  taskId,
  contextId: 'c',
  at: 1,
  message: {},
  messageId: 'm',
  texts: ['hi'],
  systemPrompt: null,
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
};
const opened = (at: number): Fact => ({ kind: 'turn_opened', taskId, at, version: at, servers: [], skills: [] });
const call = { index: 0, callId: 'c', name: 'bash', key: '"ls"' };
const recorded = (at: number): Fact => ({
  kind: 'recorded',
  taskId,
  at,
  blocks: [],
  expected: [call],
  spanId: `${at}`,
});
const started = (at: number, actionId: string): Fact => ({
  kind: 'action_started',
  taskId,
  actionId,
  at,
  action: { kind: 'bash', command: 'ls' },
  call,
  spanId: `${at}`,
});
const ended = (at: number, actionId: string): Fact => ({
  kind: 'action_ended',
  taskId,
  actionId,
  at,
  cause: 'done',
  result: { kind: 'tool', content: [], isError: false },
});
const ending = (at: number): Fact => ({ kind: 'turn_ending', taskId, at, end: { state: 'canceled' } });
const closed = (at: number): Fact => ({
  kind: 'turn_closed',
  taskId,
  at,
  version: at,
  end: { state: 'canceled' },
  messageId: 's',
  toolCallCount: 1,
});

describe('withoutRepeats', () => {
  it('keeps of what happens once the last that was written, where it stands', () => {
    const wanted = [submitted, opened(3), recorded(4), started(6, 'a'), ended(8, 'a'), ending(10), closed(12)];
    const [, open, record, start, end, stop, close] = wanted as [Fact, Fact, Fact, Fact, Fact, Fact, Fact];
    const written = [submitted, opened(2), open, record, started(5, 'a'), start, ended(7, 'a'), end];
    expect(withoutRepeats([...written, ending(9), stop, closed(11), close])).toEqual(wanted);
    expect(withoutRepeats(wanted)).toEqual(wanted);
  });

  it('keeps the ends of different actions', () => {
    const facts = [submitted, opened(2), started(3, 'a'), started(4, 'b'), ended(5, 'b'), ended(6, 'a')];
    expect(withoutRepeats(facts)).toEqual(facts);
  });

  it('keeps records that followed each other, and of one that was tried again the last', () => {
    const facts = [submitted, opened(2), recorded(3), recorded(4)];
    expect(withoutRepeats(facts)).toEqual(facts);
    const again: Fact = { ...recorded(3), at: 5 };
    expect(withoutRepeats([submitted, opened(2), recorded(3), again])).toEqual([submitted, opened(2), again]);
  });
});

describe('withoutRefused', () => {
  it('keeps of two tasks for one message the later one', () => {
    const task = (taskId: string, messageId: string, contextId = 'c'): readonly Fact[] => [
      { ...submitted, taskId, messageId, contextId },
    ];
    const [first, second] = [task('1', 'm'), task('2', 'm')];
    const others = [task('3', 'n'), task('4', 'm', 'd')];
    expect(withoutRefused([first, ...others, second])).toEqual({ accepted: [...others, second], refused: [first] });
    expect(withoutRefused([])).toEqual({ accepted: [], refused: [] });
  });
});
