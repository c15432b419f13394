import { jest } from '@jest/globals';
import { methods } from '@agentclientprotocol/sdk';
import {
  call,
  defineTool,
  MemorySessionStorage,
  say,
  sayWith,
  ScriptedModel,
  type ScriptedStep,
  toolHandler,
} from '@parley/harness';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AGENT_ID, ClientLab, closeLabs, type LabOptions, newFolder, RawLab } from './agent-lab.test-helper.js';
import { FileSessionDirectory } from './file-session-directory.js';
import { MemorySessionDirectory } from './session-directory.js';

// A loaded machine takes its time.
jest.setTimeout(30_000);

afterEach(closeLabs);

const { session } = methods.agent;
const look = defineTool({ name: 'look', description: 'Looks.', effect: 'read_only', run: () => 'a view' });
const handlers = () => [toolHandler(look)];
const steps: readonly ScriptedStep[] = [
  sayWith({ reasoning: 'hm' }, 'I look', call('c1', 'look', { path: 'a.txt' })),
  say('seen'),
];

/** What a later process finds. */
async function keeping(): Promise<LabOptions> {
  return { storage: new MemorySessionStorage(), directory: new FileSessionDirectory(join(await newFolder(), 'acp')) };
}

describe('session/load', () => {
  it('tells the whole history in its order, then answers', async () => {
    const kept = await keeping();
    const before = new ClientLab({ ...kept, steps: [steps], handlers });
    const sessionId = await before.newSession();
    await before.prompt(sessionId, 'what is there?');
    await before.server.close();
    const lab = new RawLab({ ...kept, steps: [[say('more')]], handlers });
    await lab.request('init', 'initialize', { protocolVersion: 1 });
    const loaded = await lab.request('load', 'session/load', { sessionId, cwd: tmpdir(), mcpServers: [] });
    expect(loaded.result).toEqual({});
    expect(lab.messages.at(-1)).toBe(loaded);
    const updates = lab.messages
      .filter(({ method }) => method === 'session/update')
      .map(({ params }) => (params as { update: Record<string, unknown> }).update);
    expect(updates).toMatchObject([
      { sessionUpdate: 'user_message_chunk', content: { text: 'what is there?' } },
      { sessionUpdate: 'agent_thought_chunk', content: { text: 'hm' } },
      { sessionUpdate: 'agent_message_chunk', content: { text: 'I look' } },
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'c1',
        status: 'completed',
        title: 'look a.txt',
        content: [{ content: { text: 'a view' } }],
      },
      { sessionUpdate: 'agent_message_chunk', content: { text: 'seen' } },
    ]);
    const ids = updates.map(({ messageId }) => messageId).filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(4);
  });

  it('goes on with the history', async () => {
    const kept = await keeping();
    const before = new ClientLab({ ...kept, steps: [steps], handlers });
    const sessionId = await before.newSession();
    await before.prompt(sessionId, 'what is there?');
    await before.server.close();
    const model = new ScriptedModel([say('more')]);
    const lab = new ClientLab({ ...kept, model, handlers });
    await lab.initialize();
    await lab.agent.request(session.load, { sessionId, cwd: tmpdir(), mcpServers: [] });
    expect(await lab.prompt(sessionId, 'and now?')).toEqual({ stopReason: 'end_turn' });
    const asked = model.requests[0]?.messages.filter(({ role }) => role !== 'system');
    expect(asked?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('of a session that is open already begins it anew, with what it has', async () => {
    const lab = new ClientLab({ steps: [steps, [say('again')]], handlers });
    const sessionId = await lab.newSession();
    await lab.prompt(sessionId, 'one');
    await lab.agent.request(session.load, { sessionId, cwd: tmpdir(), mcpServers: [] });
    expect(await lab.prompt(sessionId, 'two')).toEqual({ stopReason: 'end_turn' });
    expect(lab.sessions).toHaveLength(2);
  });

  it('is refused while a prompt of it is open', async () => {
    const answer = Promise.withResolvers<ScriptedStep>();
    const lab = new ClientLab({ steps: [[() => answer.promise]] });
    const sessionId = await lab.newSession();
    const prompt = lab.prompt(sessionId, 'one');
    const load = lab.agent.request(session.load, { sessionId, cwd: tmpdir(), mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: -32600, data: { reason: 'prompt_open' } });
    answer.resolve(say('ok'));
    expect(await prompt).toEqual({ stopReason: 'end_turn' });
  });

  it('twice at the same time is done once', async () => {
    const lab = new RawLab({ steps: [[say('ok')]] });
    const sessionId = await lab.begin();
    const params = { sessionId, cwd: tmpdir(), mcpServers: [] };
    lab.write({ id: 1, method: 'session/load', params }, { id: 2, method: 'session/load', params });
    expect((await lab.answerTo(1)).result).toEqual({});
    expect((await lab.answerTo(2)).error).toMatchObject({ code: -32600, data: { reason: 'session_busy' } });
    expect(lab.sessions).toHaveLength(2);
  });

  it('closes a run whose process ended in the middle', async () => {
    const storage = new MemorySessionStorage();
    await storage.append('half', AGENT_ID, [
      { sequence: 1, type: 'run_started', data: { run_id: 'f'.repeat(32), task: 'half' } },
    ]);
    const lab = new ClientLab({ storage, steps: [[say('ok')]] });
    await lab.initialize();
    await lab.agent.request(session.load, { sessionId: 'half', cwd: tmpdir(), mcpServers: [] });
    expect(lab.updatesOf('user_message_chunk')).toHaveLength(1);
    expect(await lab.prompt('half', 'go on')).toEqual({ stopReason: 'end_turn' });
  });

  it('says that another process uses the session', async () => {
    const storage = new MemorySessionStorage();
    await storage.append('half', AGENT_ID, [
      { sequence: 1, type: 'run_started', data: { run_id: 'f'.repeat(32), task: 'half' } },
    ]);
    const lock = await storage.lockRun('half', {});
    const lab = new ClientLab({ storage });
    await lab.initialize();
    const load = lab.agent.request(session.load, { sessionId: 'half', cwd: tmpdir(), mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: -32600, data: { reason: 'session_in_use' } });
    lock.release();
  });

  it('does not find the session of another agent', async () => {
    const storage = new MemorySessionStorage();
    await storage.append('theirs', 'somebody', [
      { sequence: 1, type: 'run_started', data: { run_id: 'f'.repeat(32), task: 'x' } },
    ]);
    const lab = new ClientLab({ storage });
    await lab.initialize();
    const load = lab.agent.request(session.load, { sessionId: 'theirs', cwd: tmpdir(), mcpServers: [] });
    await expect(load).rejects.toMatchObject({ code: -32002 });
  });
});

describe('session/resume', () => {
  it('goes on without telling the history', async () => {
    const kept = await keeping();
    const before = new ClientLab({ ...kept, steps: [steps], handlers });
    const sessionId = await before.newSession();
    await before.prompt(sessionId, 'one');
    await before.server.close();
    const model = new ScriptedModel([say('more')]);
    const lab = new ClientLab({ ...kept, model, handlers });
    await lab.initialize();
    expect(await lab.agent.request(session.resume, { sessionId, cwd: tmpdir() })).toEqual({});
    expect(lab.notifications).toEqual([]);
    await lab.prompt(sessionId, 'two');
    expect(model.requests[0]?.messages.filter(({ role }) => role === 'user')).toHaveLength(2);
  });
});

describe('session/list', () => {
  it('tells folder, title and time of what was asked something, the newest first', async () => {
    let now = Date.UTC(2026, 10, 30);
    const lab = new ClientLab({ steps: [[say('a'), say('b')]], now: () => (now += 1_000) });
    const [one, two] = [await newFolder(), await newFolder()];
    const first = await lab.newSession(one);
    const second = await lab.newSession(two);
    await lab.newSession(two);
    await lab.prompt(first, '  the\nfirst  task ');
    await lab.prompt(second, 'second');
    await lab.prompt(first, 'more');
    expect(lab.updatesOf('session_info_update').map(({ title }) => title)).toEqual(['the first task', 'second']);
    const { sessions } = await lab.agent.request(session.list, {});
    expect(sessions).toEqual([
      { sessionId: first, cwd: one, title: 'the first task', updatedAt: '2026-11-30T00:00:03.000Z' },
      { sessionId: second, cwd: two, title: 'second', updatedAt: '2026-11-30T00:00:02.000Z' },
    ]);
    const inFolder = await lab.agent.request(session.list, { cwd: two });
    expect(inFolder.sessions.map(({ sessionId }) => sessionId)).toEqual([second]);
  });

  it('comes in pages, in which each session is once', async () => {
    const directory = new MemorySessionDirectory();
    const lab = new ClientLab({ directory });
    for (let at = 0; at < 120; at++) {
      await directory.remember({ sessionId: `s${at}`, cwd: '/a', title: '', updatedAt: 1_000 + (at % 7) });
    }
    await lab.initialize();
    const seen: string[] = [];
    let cursor: string | null | undefined;
    let pages = 0;
    do {
      const page = await lab.agent.request(session.list, { cursor: cursor ?? null });
      seen.push(...page.sessions.map(({ sessionId }) => sessionId));
      cursor = page.nextCursor;
      pages += 1;
      // One that comes meanwhile is no reason to tell another twice.
      await directory.remember({ sessionId: `new${pages}`, cwd: '/a', title: '', updatedAt: 9_999 });
    } while (cursor !== undefined && cursor !== null);
    expect(pages).toBe(3);
    expect(seen).toHaveLength(120);
    expect(new Set(seen).size).toBe(120);
  });

  it.each([
    [{ cursor: 'nonsense' }, 'cursor'],
    [{ cwd: 'relative' }, 'cwd'],
    [{ cwd: 3 }, 'cwd'],
  ])('refuses %j', async (params, path) => {
    const lab = new RawLab();
    await lab.begin();
    expect((await lab.request('l', 'session/list', params)).error).toMatchObject({
      code: -32602,
      data: { issues: [{ path }] },
    });
  });
});

describe('session/close', () => {
  it('cancels the open prompt, ends the agent and forgets the session', async () => {
    const asked = Promise.withResolvers<undefined>();
    let stopped = 0;
    const lab = new ClientLab({
      steps: [
        [
          () => {
            asked.resolve(undefined);
            return new Promise(() => undefined);
          },
        ],
      ],
      handlers: () => [
        { tools: [], call: () => Promise.resolve(''), stop: () => Promise.resolve(void (stopped += 1)) },
      ],
    });
    const sessionId = await lab.newSession();
    const prompt = lab.prompt(sessionId, 'go');
    await asked.promise;
    expect(await lab.agent.request(session.close, { sessionId })).toEqual({});
    expect(await prompt).toEqual({ stopReason: 'cancelled' });
    expect(stopped).toBe(1);
    await expect(lab.prompt(sessionId, 'more')).rejects.toMatchObject({ code: -32002, data: { sessionId } });
  });
});

describe('session/delete', () => {
  it('removes journal and facts, also of a session that is open', async () => {
    const deleted: string[] = [];
    const lab = new ClientLab({
      steps: [[say('ok')]],
      deleteSession: (id) => Promise.resolve(void deleted.push(id)),
    });
    const sessionId = await lab.newSession();
    await lab.prompt(sessionId, 'go');
    expect(await lab.agent.request(session.delete, { sessionId })).toEqual({});
    expect(deleted).toEqual([sessionId]);
    expect((await lab.agent.request(session.list, {})).sessions).toEqual([]);
  });

  it('is unknown where the host cannot', async () => {
    const lab = new RawLab();
    const sessionId = await lab.begin();
    expect((await lab.request('d', 'session/delete', { sessionId })).error?.code).toBe(-32601);
  });
});

describe('many sessions', () => {
  it('are refused from the limit on, and again possible when one is closed', async () => {
    const lab = new ClientLab({ maxSessions: 100 });
    await lab.initialize();
    const open = () => lab.agent.request(session.new, { cwd: tmpdir(), mcpServers: [] });
    const made = await Promise.allSettled(Array.from({ length: 300 }, open));
    const ids = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.sessionId] : []));
    expect(ids).toHaveLength(100);
    const refusals = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: -32600, data: { reason: 'too_many_sessions', maxSessions: 100 } });
    }
    await lab.agent.request(session.close, { sessionId: ids[0] ?? '' });
    expect((await open()).sessionId).not.toBe('');
    await expect(open()).rejects.toMatchObject({ code: -32600 });
  });

  it('with 300 of them at once each gets its own answers', async () => {
    const lab = new ClientLab({
      maxSessions: 300,
      model: new ScriptedModel([], {
        whenExhausted: ({ messages }) => say(`to ${messages.findLast(({ role }) => role === 'user')?.content}`),
      }),
    });
    await lab.initialize();
    const made = await Promise.all(
      Array.from({ length: 300 }, () => lab.agent.request(session.new, { cwd: tmpdir(), mcpServers: [] })),
    );
    await Promise.all(made.map(({ sessionId }) => lab.prompt(sessionId, sessionId)));
    const texts = lab.notifications.filter(({ update }) => update.sessionUpdate === 'agent_message_chunk');
    expect(texts).toHaveLength(300);
    for (const { sessionId, update } of texts) {
      expect(update).toMatchObject({ content: { text: `to ${sessionId}` } });
    }
  });
});
