import type { AgentEvent, AgentEventPayload } from '../src/events.js';
import type { Message } from '../src/messages.js';
import { call, say } from '../src/model/scripted-model.js';
import type { AgentRunResult } from '../src/result.js';
import { checkRun, InvariantViolation } from './check-invariants.js';
import { Lab } from './lab.js';

interface RunRecord {
  events: AgentEvent[];
  history: Message[];
  result: AgentRunResult;
  restored: Message[];
}

/** A good run with two calls and an answer, to be spoiled. */
async function goodRun(): Promise<RunRecord> {
  const lab = new Lab([say(null, call('c1', 'report'), call('c2', 'write')), say('done')]);
  const result = await lab.agent.run('go');
  const history = [...lab.agent.messages];
  return { events: [...lab.events], history, result, restored: [...history] };
}

function check({ events, history, result, restored }: RunRecord): void {
  checkRun(events, history, result, { restored });
}

/** Takes the events of a kind away and numbers the rest anew, so that only the rule in question is broken. */
function without(record: RunRecord, drop: (payload: AgentEventPayload, index: number) => boolean): void {
  const kept = record.events.filter(({ payload }, index) => !drop(payload, index));
  record.events = kept.map((event, index) => ({ ...event, sequence: index + 1 }));
}

function swap<T>(list: T[], a: number, b: number): void {
  const kept = list[a] as T;
  list[a] = list[b] as T;
  list[b] = kept;
}

function swapEvents(record: RunRecord, a: number, b: number): void {
  swap(record.events, a, b);
  record.events = record.events.map((event, index) => ({ ...event, sequence: index + 1 }));
}

const at = (record: RunRecord, kind: string, nth = 0): number =>
  record.events.flatMap(({ payload }, index) => (payload.kind === kind ? [index] : []))[nth] ?? -1;

describe('the check of a run', () => {
  it('has nothing against a good run', async () => {
    const record = await goodRun();
    expect(() => check(record)).not.toThrow();
  });

  it.each<[string, RegExp, (record: RunRecord) => void]>([
    ['a gap in the numbers', /has the number/, (run) => void run.events.splice(3, 1)],
    ['an event of another run', /run id/, (run) => (run.events[3] = { ...(run.events[3] as AgentEvent), runId: 'x' })],
    ['no start', /begins with/, (run) => without(run, ({ kind }) => kind === 'agent_started')],
    ['no end', /last event/, (run) => without(run, ({ kind }) => kind === 'agent_finished')],
    ['an event after the end', /last event/, (run) => swapEvents(run, run.events.length - 1, run.events.length - 2)],
    ['another result at the end', /another result/, (run) => (run.result = { ...run.result })],
    [
      'a turn that is not completed',
      /not completed/,
      (run) => without(run, ({ kind }, i) => kind === 'turn_completed' && i < 12),
    ],
    [
      'a turn left out',
      /turns of|follows turn/,
      (run) => without(run, (payload) => 'turn' in payload && payload.turn === 1),
    ],
    ['a call never started', /started/, (run) => without(run, (_payload, i) => i === at(run, 'tool_started', 1))],
    [
      'a call never completed',
      /completed c1/,
      (run) => without(run, (_payload, i) => i === at(run, 'tool_completed', 1)),
    ],
    [
      'calls completed out of order',
      /started|completed/,
      (run) => swapEvents(run, at(run, 'tool_completed', 0), at(run, 'tool_completed', 1)),
    ],
    [
      'progress after the end of its call',
      /progress/,
      (run) => swapEvents(run, at(run, 'tool_progressed', 1), at(run, 'tool_completed', 0)),
    ],
    [
      'a call before its message',
      /out of place/,
      (run) => swapEvents(run, at(run, 'message_completed'), at(run, 'tool_started')),
    ],
    ['a call without a result', /no result/, (run) => void run.history.splice(3, 1)],
    ['a result without a call', /no call/, (run) => void run.history.splice(1, 1)],
    ['results out of order', /out of order/, (run) => swap(run.history, 2, 3)],
    ['an id twice', /twice/, (run) => void run.history.push(...run.history.slice(1, 4))],
    [
      'another result in the history than in the event',
      /another/,
      (run) => (run.history[2] = { role: 'tool', toolCallId: 'c1', content: 'x' }),
    ],
    ['another restored history', /restored/, (run) => void run.restored.pop()],
  ])('finds %s', async (_name, text, spoil) => {
    const record = await goodRun();
    spoil(record);
    expect(() => check(record)).toThrow(InvariantViolation);
    expect(() => check(record)).toThrow(text);
  });
});
