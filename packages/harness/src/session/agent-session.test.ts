import { LabTools } from '../../test-support/lab-tools.js';
import { Agent } from '../agent/agent.js';
import type { AgentOptions } from '../agent/agent-options.js';
import { call, say, ScriptedModel, type ScriptedStep } from '../model/scripted-model.js';
import { JsonlSessionStorage } from './jsonl-session-storage.js';
import { openSession } from './open-session.js';
import { SessionStorageError } from './session-errors.js';
import type { SessionStorage } from './session-storage.js';
import { opening, TemporaryFolder, wholeRun } from './sessions.test-helper.js';

describe('an agent whose runs are recorded in a file', () => {
  let folder: TemporaryFolder;
  let storage: JsonlSessionStorage;

  beforeEach(() => {
    folder = new TemporaryFolder();
    storage = new JsonlSessionStorage(folder.path, { fsync: false });
  });

  afterEach(async () => {
    await storage.close();
    folder.remove();
  });

  async function makeAgent(steps: readonly ScriptedStep[], options: AgentOptions = {}, over: SessionStorage = storage) {
    const { journal, session } = await openSession({ storage: over, sessionId: 's1', agentId: 'core' });
    const model = new ScriptedModel(steps);
    const agent = new Agent(model, { agentId: 'core', handlers: [new LabTools()], session: journal, ...options });
    if (session !== null) agent.restore(session);
    return { agent, model, journal };
  }

  /** As a process would see it that starts now. */
  async function restored() {
    const fresh = new JsonlSessionStorage(folder.path);
    const session = await fresh.load('s1');
    await fresh.close();
    return session;
  }

  const write = (id: string) => call(id, 'write', { x: 1 });
  const scenarios: readonly (readonly [string, readonly ScriptedStep[], string])[] = [
    ['a plain answer', [say('hello')], 'text_response'],
    ['tool calls', [say('look', write('c1'), write('c2')), say('done')], 'text_response'],
    ['a failing tool', [say(null, call('c1', 'boom', {})), say('done')], 'text_response'],
    [
      'a call repeated too often',
      [say(null, write('c1'), write('c2'), write('c3'), write('c4'))],
      'repeated_tool_call',
    ],
    ['a tool that ends the run before others', [say(null, call('c1', 'finish', {}), write('c2'))], 'tool_completion'],
    ['a tool that refuses', [say(null, write('c1'), call('c2', 'refuse', {}), write('c3'))], 'tool_rejected'],
    ['a model that fails', [say(null, write('c1')), new Error('provider down')], 'runtime_error'],
  ];
  it.each(scenarios)('has the same history live and restored after %s', async (_name, steps, stopReason) => {
    const { agent } = await makeAgent([...steps, ...[say('next')]]);
    const result = await agent.run('go');
    expect(result.stopReason).toBe(stopReason);
    const session = await restored();
    expect(session?.messages).toEqual(agent.messages);
    expect(session?.runs.at(-1)).toMatchObject({ task: 'go', finished: true, result });
    await agent.shutdown();
  });

  it('has the same history after an abort within a tool', async () => {
    const { agent } = await makeAgent([say(null, write('c1'), call('c2', 'hang', {}), write('c3'))], {
      sinks: [
        {
          emit: ({ payload }) => {
            if (payload.kind === 'tool_started' && payload.toolCall.id === 'c2') agent.abort('enough');
          },
        },
      ],
    });
    expect((await agent.run('go')).stopReason).toBe('external_abort');
    expect((await restored())?.messages).toEqual(agent.messages);
    await agent.shutdown();
  });

  it('goes on in a new agent where the last one stopped', async () => {
    const first = await makeAgent([say('one', write('c1')), say('two')]);
    await first.agent.run('go');
    await first.agent.shutdown();
    const second = await makeAgent([say('three'), say('four')]);
    expect(second.agent.lastResult).toEqual(first.agent.lastResult);
    await second.agent.continueRun();
    await second.agent.run('more');
    expect((await restored())?.messages).toEqual(second.agent.messages);
    expect((await restored())?.runs.map(({ intent }) => intent)).toEqual(['task', 'continue', 'task']);
    await second.agent.shutdown();
  });

  it('asks no model when another agent changed the session since it was read', async () => {
    const first = await makeAgent([say('one')]);
    const second = await makeAgent([say('other')]);
    await first.agent.run('go');
    const result = await second.agent.run('go too');
    expect(result).toMatchObject({ status: 'failed', stopReason: 'persistence_failed' });
    expect(result.error).toMatch(/a history that this agent has not read/);
    expect(second.model.requests).toHaveLength(0);
    expect((await restored())?.runs).toHaveLength(1);
    await Promise.all([first.agent.shutdown(), second.agent.shutdown()]);
  });

  it('does not run on a session that a crash left inside of a run', async () => {
    await storage.append('s1', 'core', wholeRun('r1').slice(0, 2));
    await expect(makeAgent([say('one')])).rejects.toThrow(/ended with its process/);
    const { journal } = await openSession({ storage, sessionId: 's1', agentId: 'core', onUnfinished: 'abandon' });
    await journal.beginRun(opening('r2'));
    await journal.release();
  });

  it('fails with every write, and records again once writing works', async () => {
    let full = true;
    const disk: SessionStorage = new Proxy(storage, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        const method = value.bind(target) as (...args: unknown[]) => unknown;
        if (key !== 'append') return method;
        return (...args: unknown[]) => (full ? Promise.reject(new SessionStorageError('ENOSPC')) : method(...args));
      },
    });
    const { agent, model } = await makeAgent([say('one'), say('two')], {}, disk);
    expect(await agent.run('go')).toMatchObject({ status: 'failed', stopReason: 'persistence_failed' });
    expect(model.requests).toHaveLength(0);
    full = false;
    expect(await agent.run('go')).toMatchObject({ status: 'completed' });
    expect((await restored())?.messages).toEqual(agent.messages);
    await agent.shutdown();
  });
});
