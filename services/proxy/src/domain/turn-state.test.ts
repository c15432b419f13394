import type { Action, TurnFact } from './facts.js';
import { ProxyState } from './proxy-state.js';

const of = { taskId: 't', at: 1 };
const action: Action = { kind: 'bash', command: 'ls' };
const call = { index: 0, callId: 'c', name: 'bash', key: '"ls"' };
const submitted: TurnFact = {
  ...of,
  kind: 'turn_submitted',
  contextId: 'c',
  message: {},
  messageId: 'm',
  texts: ['hi'],
  systemPrompt: null,
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
};
const opened: TurnFact = { ...of, kind: 'turn_opened', version: 3, servers: [], skills: [] };
const closed: TurnFact = {
  ...of,
  kind: 'turn_closed',
  version: 4,
  end: { state: 'completed', texts: ['x'] },
  messageId: 's',
  toolCallCount: 1,
};

function stateOf(...facts: TurnFact[]): ProxyState {
  const state = new ProxyState();
  for (const fact of facts) state.apply(fact);
  return state;
}

describe('the state of a turn', () => {
  it('is open from its opening to its end', () => {
    const state = stateOf(submitted);
    expect([state.openTurn('t'), state.turns.get('t')?.taskState]).toEqual([undefined, 'working']);
    state.apply(opened);
    expect([state.openTurn('t')?.isOpen, state.version]).toEqual([true, 3]);
    state.apply({ ...of, kind: 'turn_ending', end: { state: 'canceled' } });
    expect([state.openTurn('t'), state.openTurns.size, state.version]).toEqual([undefined, 1, 3]);
    state.apply({ ...closed, end: { state: 'canceled' } });
    expect([state.openTurns.size, state.turns.get('t')?.taskState, state.version]).toEqual([0, 'canceled', 4]);
  });

  it('takes a started call from those that are expected, and keeps nothing of what it ran once it is closed', () => {
    const state = stateOf(submitted, opened);
    state.apply({ ...of, kind: 'recorded', blocks: [{ type: 'text', text: 'x' }], expected: [call], spanId: 's' });
    const turn = state.turns.get('t');
    expect([turn?.recorded, turn?.expected.size]).toEqual([true, 1]);
    state.apply({ ...of, kind: 'action_started', actionId: 'a', action, call, spanId: 's' });
    expect([turn?.expected.size, turn?.toolCallCount, turn?.actions.get('a')?.ended]).toEqual([0, 1, undefined]);
    state.apply(closed);
    expect([turn?.actions.size, turn?.blocks, turn?.toolCallCount]).toEqual([0, [], 1]);
  });

  it('is never forgotten while it is open, nor changed by facts of tasks that are not known', () => {
    const state = stateOf(submitted, opened, { ...of, kind: 'turn_forgotten' }, { ...closed, taskId: 'other' });
    expect([state.turns.size, state.openTurns.size]).toEqual([1, 1]);
    state.apply(closed);
    state.apply({ ...of, kind: 'turn_forgotten' });
    expect(state.turns.size).toBe(0);
  });

  it('keeps the first end, of a turn and of an action', () => {
    const ended = { ...of, kind: 'action_ended', actionId: 'a' } as const;
    const result = { kind: 'tool', content: [], isError: false } as const;
    const state = stateOf(submitted, opened);
    state.apply({ ...of, kind: 'action_started', actionId: 'a', action, spanId: 's' });
    state.apply({ ...ended, cause: 'done', result });
    state.apply({ ...ended, cause: 'lost', result });
    expect(state.turns.get('t')?.actions.get('a')?.ended?.cause).toBe('done');
    state.apply(closed);
    state.apply({ ...closed, version: 9, end: { state: 'canceled' } });
    expect([state.turns.get('t')?.taskState, state.version]).toEqual(['completed', 9]);
  });

  it('lists open turns in order of opening though facts came task by task', () => {
    const state = new ProxyState();
    for (const [taskId, version] of [
      ['b', 7],
      ['a', 5],
    ] as const) {
      state.apply({ ...submitted, taskId });
      state.apply({ ...opened, taskId, version });
    }
    state.sortOpenTurns();
    expect([[...state.openTurns.keys()], state.version]).toEqual([['a', 'b'], 7]);
  });
});
