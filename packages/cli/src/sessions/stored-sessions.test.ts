import { Agent, MemorySessionStorage, say, ScriptedModel, type SessionStorage } from '@parley/harness';
import { UsageError } from '../usage-error.js';
import { newSessionId } from './session-ref.js';
import { AGENT_ID, StoredSessions } from './stored-sessions.js';

function makeSessions(storage: SessionStorage = new MemorySessionStorage()) {
  let count = 0;
  const sessions = new StoredSessions({
    storage,
    makeAgent: (journal) =>
      new Agent(new ScriptedModel(Array.from({ length: 9 }, (_, at) => say(`answer ${at}`))), {
        agentId: AGENT_ID,
        session: journal,
      }),
    now: () => Date.UTC(2026, 10, 30, 2, 15),
    randomHex: () => `00a${(count += 1)}ffff`,
  });
  return { storage, sessions };
}

async function ran(sessions: StoredSessions, id: string, ...tasks: string[]): Promise<void> {
  const { agent } = await sessions.create(id);
  for (const task of tasks) await agent.run(task);
  await agent.shutdown();
}

/** A run whose process ended in the middle. */
async function cutOff(storage: SessionStorage, sessionId: string): Promise<void> {
  await storage.append(sessionId, AGENT_ID, [
    { sequence: 1, type: 'run_started', data: { run_id: 'f'.repeat(32), task: 'half' } },
  ]);
}

describe('StoredSessions', () => {
  it('makes ids that can be read', async () => {
    expect(newSessionId(Date.UTC(2026, 10, 30, 2, 15), '3fa9')).toBe('20261130-0215-3fa9');
    expect((await makeSessions().sessions.create()).ref).toBe('20261130-0215-00a1');
  });

  it('stores nothing before the first task', async () => {
    const { sessions } = makeSessions();
    await sessions.create('one');
    expect(await sessions.list()).toEqual([]);
  });

  it('goes on with a session by its id, or the beginning of it', async () => {
    const { sessions } = makeSessions();
    await ran(sessions, 'abc-1', 'first task');
    await ran(sessions, 'abd-2', 'other');
    const { agent, ref } = await sessions.open('abc');
    expect(ref).toBe('abc-1');
    expect(agent.messages.map(({ content }) => content)).toEqual(['first task', 'answer 0']);
    expect((await sessions.create('abc-1')).agent.messages).toHaveLength(2);
  });

  it.each([
    ['ab', /2 sessions begin with ab: /u],
    ['x', /no session x/u],
    ['', /no session/u],
    ['abc-1@nowhere', /no branch nowhere/u],
  ])('refuses %j', async (ref, message) => {
    const { sessions } = makeSessions();
    await ran(sessions, 'abc-1', 'a');
    await ran(sessions, 'abd-2', 'b');
    const failure = await sessions.open(ref).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toMatch(message);
  });

  it('forks: both go their own way', async () => {
    const { sessions } = makeSessions();
    await ran(sessions, 'one', 'shared');
    const fork = await sessions.fork('one');
    expect(fork.ref).toBe('one@fork-1');
    await fork.agent.run('only here');
    expect((await sessions.open('one')).agent.messages).toHaveLength(2);
    expect((await sessions.open('one@fork-1')).agent.messages).toHaveLength(4);
    expect((await sessions.fork('one@fork-1')).ref).toBe('one@fork-2');
  });

  it('lists every branch, the one that was written last first', async () => {
    const { sessions } = makeSessions();
    await ran(sessions, 'one', 'the task');
    const fork = await sessions.fork('one');
    await fork.agent.run('more');
    expect(await sessions.list()).toMatchObject([
      { ref: 'one@fork-1', title: 'the task', messageCount: 4 },
      { ref: 'one', title: 'the task', messageCount: 2 },
    ]);
  });

  it('closes a run that was cut off, and says so once', async () => {
    const { storage, sessions } = makeSessions();
    await cutOff(storage, 'one');
    const { notices, agent } = await sessions.open('one');
    expect(notices.join()).toContain('was cut off');
    expect((await agent.run('go on')).status).toBe('completed');
    await agent.shutdown();
    expect((await sessions.open('one')).notices).toEqual([]);
  });

  it('forks a session whose last run was cut off', async () => {
    const { storage, sessions } = makeSessions();
    await cutOff(storage, 'one');
    const { agent } = await sessions.fork('one');
    expect((await agent.run('go on')).status).toBe('completed');
  });

  it('says that a session is in use instead of waiting', async () => {
    const { storage, sessions } = makeSessions();
    const lock = await storage.lockRun('one', {});
    await cutOff(storage, 'one');
    await expect(sessions.open('one')).rejects.toThrow('in use by another process');
    await expect(sessions.fork('one')).rejects.toThrow('in use by another process');
    lock.release();
    expect((await sessions.open('one')).ref).toBe('one');
  });

  it('leaves sessions of other agents alone', async () => {
    const { storage, sessions } = makeSessions();
    await storage.append('theirs', 'somebody', [
      { sequence: 1, type: 'run_started', data: { run_id: 'f'.repeat(32), task: 'x' } },
    ]);
    expect(await sessions.list()).toEqual([]);
    await expect(sessions.open('theirs')).rejects.toThrow(UsageError);
    await expect(sessions.create('theirs')).rejects.toThrow(UsageError);
  });

  it('lists a session that cannot be read, with the reason', async () => {
    const { storage, sessions } = makeSessions();
    await ran(sessions, 'good', 'fine');
    await ran(sessions, 'bad', 'x');
    storage.checkout = (id) => Promise.reject(new Error(`line 3 of ${id} is broken`));
    expect((await sessions.list()).map(({ title }) => title)).toEqual(
      expect.arrayContaining(['cannot be read: line 3 of bad is broken']),
    );
  });
});
