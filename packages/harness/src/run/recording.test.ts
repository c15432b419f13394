import { checkHistory } from '../../test-support/check-invariants.js';
import { at, Lab } from '../../test-support/lab.js';
import { MemoryJournal } from '../../test-support/memory-journal.js';
import { Agent } from '../agent/agent.js';
import { call, say, ScriptedModel, sayWith } from '../model/scripted-model.js';
import { MemorySessionStorage } from '../session/memory-session-storage.js';
import { SessionRecorder } from '../session/session-recorder.js';

/** Fails at the n-th call of one method. */
function failing(method: string, at = 1): MemoryJournal {
  let calls = 0;
  return new MemoryJournal((_call, called) => {
    if (called !== method) return null;
    calls += 1;
    return calls === at ? new Error('ENOSPC: no space left') : null;
  });
}

describe('the journal of a run', () => {
  it('gets each record before its event, with the number of that event', async () => {
    const log: string[] = [];
    const journal = new MemoryJournal((_call, method) => (log.push(method), null));
    const lab = new Lab([say(null, call('c1', 'write')), say('done')], {
      session: journal,
      onEvent: ({ payload, sequence }, { agent }) => {
        log.push(`${String(sequence)} ${payload.kind}`);
        if (payload.kind === 'tool_started') agent.steer('be brief');
      },
    });
    await lab.run();
    expect(log).toEqual([
      ...['beginRun', '1 agent_started', '2 turn_started', 'appendAssistant', '3 message_completed', '4 tool_started'],
      ...['appendToolMessages', '5 tool_completed', '6 turn_completed', '7 turn_started'],
      ...['applySteering', '8 steering_applied', 'appendAssistant', '9 message_completed', '10 turn_completed'],
      ...['finishRun', '11 agent_finished'],
    ]);
    expect(journal.entries.map(({ method, sequence }) => [method, sequence])).toEqual([
      ['beginRun', 1],
      ['appendAssistant', 3],
      ['appendToolMessages', 5],
      ['applySteering', 8],
      ['appendAssistant', 9],
      ['finishRun', 11],
    ]);
    expect(journal.messages).toEqual(lab.agent.messages);
    expect(journal.result).toBe(lab.agent.lastResult);
  });

  it('says whether a run had a task or went on', async () => {
    const journal = new MemoryJournal();
    const lab = new Lab([say('x'), say('y')], { session: journal });
    await lab.run('first');
    await lab.agent.continueRun();
    const openings = journal.entries.filter(({ method }) => method === 'beginRun').map(({ data }) => data);
    expect(openings).toMatchObject([
      { intent: 'task', task: 'first' },
      { intent: 'continue', task: null },
    ]);
  });

  it('holds what memory holds after a repeated call, and a message with an id twice', async () => {
    const journal = new MemoryJournal();
    const lab = new Lab([say(null, ...['c1', 'c1', 'c3', 'c4'].map((id) => call(id, 'write')))], { session: journal });
    expect(await lab.run()).toMatchObject({ stopReason: 'repeated_tool_call' });
    expect(journal.messages).toEqual(lab.agent.messages);
    expect(lab.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(4);
  });
});

describe('a journal that fails', () => {
  it('at the start fails the run before any request, and leaves the history alone', async () => {
    const journal = failing('beginRun');
    const lab = new Lab([say('x')], { session: journal });
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'persistence_failed', status: 'failed', phase: 'session', turns: 0 });
    expect(result.error).toContain('ENOSPC');
    expect(lab.trace).toEqual(['agent_started go', 'agent_finished persistence_failed']);
    expect([lab.model.requests.length, lab.agent.messages.length, journal.releases]).toEqual([0, 0, 0]);
    expect(await lab.run('again')).toMatchObject({ stopReason: 'text_response' });
  });

  it('at an answer fails the run, with the answer in the result and not in the history', async () => {
    const journal = failing('appendAssistant');
    const lab = new Lab([say('precious', call('c1', 'write'))], { session: journal });
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'persistence_failed', partial: 'precious', output: null });
    expect(lab.trace.slice(1)).toEqual(['turn_started 1', 'turn_completed 1', 'agent_finished persistence_failed']);
    expect(lab.tools.log).toEqual([]);
    expect(lab.agent.messages).toHaveLength(1);
    expect(journal.entries.map(({ method }) => method)).toEqual(['beginRun']);
    expect(journal.releases).toBe(1);
  });

  it.each([1, 2])('at the result of call %i runs no further call and settles all of them', async (at) => {
    const journal = failing('appendToolMessages', at);
    const lab = new Lab([say(null, call('c1', 'write'), call('c2', 'report'), call('c3', 'read_a'))], {
      session: journal,
    });
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'persistence_failed', status: 'failed' });
    expect(lab.tools.log).toEqual(['write', 'report'].slice(0, at));
    const codes = lab
      .of('tool_completed')
      .map(({ result: { message } }) => /"code": "(\w+)"/.exec(message.content)?.[1]);
    const lost = ['outcome_unknown', 'cancelled_before_start', 'cancelled_before_start'];
    expect(codes).toEqual([undefined, ...lost].slice(2 - at, 2 - at + 3));
    expect(journal.releases).toBe(1);
    checkHistory(lab.agent.messages);
  });

  it('at steering discards it and all that waits behind it', async () => {
    const lab = new Lab([say('x')], { session: failing('applySteering') });
    const run = lab.run();
    lab.agent.steer('one');
    lab.agent.steer('two');
    expect(await run).toMatchObject({ stopReason: 'persistence_failed' });
    expect(lab.trace.slice(2)).toEqual([
      'turn_completed 1',
      'steering_discarded one persistence_failed',
      'steering_discarded two persistence_failed',
      'agent_finished persistence_failed',
    ]);
    expect(lab.agent.messages).toHaveLength(1);
  });

  it('at the end makes a failure of a good run', async () => {
    const journal = failing('finishRun');
    const lab = new Lab([say('done')], { session: journal });
    const result = await lab.run();
    expect(result).toMatchObject({ stopReason: 'persistence_failed', status: 'failed', output: null, turns: 1 });
    expect(lab.agent.lastResult).toBe(result);
    expect([lab.trace.at(-1), journal.releases]).toEqual(['agent_finished persistence_failed', 1]);
  });

  it('counts for more than an abort', async () => {
    const lab = new Lab([say(null, call('c1', 'write'))], {
      session: failing('appendToolMessages'),
      onEvent: at('tool_started', ({ agent }) => agent.abort()),
    });
    expect(await lab.run()).toMatchObject({ stopReason: 'persistence_failed' });
  });

  it('is no reason for persistence_failed if the wait for the session was aborted', async () => {
    const waiting = Promise.withResolvers<null>();
    const caller = new AbortController();
    const journal = new MemoryJournal(async () => {
      waiting.resolve(null);
      await new Promise((resolve) => caller.signal.addEventListener('abort', resolve));
      return new Error('wait aborted');
    });
    const lab = new Lab([say('x')], { session: journal });
    const run = lab.run('go', { signal: caller.signal });
    await waiting.promise;
    caller.abort(new Error('enough'));
    expect(await run).toMatchObject({ stopReason: 'external_abort', error: 'enough', turns: 0 });
  });
});

describe('sessions in a real storage', () => {
  const recorder = (storage: MemorySessionStorage): SessionRecorder =>
    new SessionRecorder({ storage, sessionId: 's', agentId: 'lab', runLockWaitMs: 0 });

  it('restore to the live history, and go on in another agent', async () => {
    const storage = new MemorySessionStorage();
    const handlers = new Lab([]).tools;
    const steps = [say('look', call('c1', 'write'), call('c2', 'finish'), call('c3', 'write'))];
    const first = new Agent(new ScriptedModel(steps), {
      agentId: 'lab',
      handlers: [handlers],
      session: recorder(storage),
    });
    const result = await first.run('go');
    const journal = recorder(storage);
    const { session } = await journal.open();
    const second = new Agent(new ScriptedModel([say('went on')]), { agentId: 'lab', session: journal });
    if (session !== null) second.restore(session);
    expect(second.messages).toEqual(first.messages);
    expect(second.lastResult).toEqual(result);
    expect(await second.continueRun()).toMatchObject({ output: 'went on' });
    expect((await storage.load('s'))?.messages).toEqual(second.messages);
  });

  it('tell the second of two agents on one session, before it asks its model', async () => {
    const storage = new MemorySessionStorage();
    const answer = Promise.withResolvers<ReturnType<typeof say>>();
    const asked = Promise.withResolvers<null>();
    const slow = new ScriptedModel([() => (asked.resolve(null), answer.promise)]);
    const first = new Agent(slow, { agentId: 'lab', session: recorder(storage) });
    const other = new ScriptedModel([say('never')]);
    const second = new Agent(other, { agentId: 'lab', session: recorder(storage) });
    const run = first.run('one');
    await asked.promise;
    expect(await second.run('two')).toMatchObject({ stopReason: 'persistence_failed', phase: 'session' });
    answer.resolve(say('one is done'));
    expect(await run).toMatchObject({ output: 'one is done' });
    // The session is free now, but the second agent does not know what it holds.
    expect(await second.run('three')).toMatchObject({ stopReason: 'persistence_failed', phase: 'session' });
    expect(other.requests).toEqual([]);
    expect((await storage.load('s'))?.runs).toHaveLength(1);
  });

  it('record a run that was cut off so that it can be continued', async () => {
    const storage = new MemorySessionStorage();
    const model = new ScriptedModel([sayWith({ finishReason: 'length' }, 'half')]);
    const result = await new Agent(model, { agentId: 'lab', session: recorder(storage) }).run('go');
    expect((await storage.load('s'))?.runs[0]?.result).toEqual(result);
    expect(result.partial).toBe('half');
  });
});
