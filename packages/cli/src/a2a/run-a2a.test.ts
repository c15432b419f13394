import type { A2aTask } from '@parley/agent';
import { artifact, failure, FakeConnection, message, status, task, text } from '../../test-support/fake-connection.js';
import { type FakeIo, fakeIo } from '../../test-support/fake-io.js';
import { parseArguments } from '../parse-arguments.js';
import type { ConnectSettings } from './a2a-settings.js';
import { runA2a } from './run-a2a.js';

function start(line: string, agent = new FakeConnection(), io: FakeIo = fakeIo({ isTty: false })) {
  const parsed = parseArguments(line.split(' '), { env: {}, cwd: '/', isInteractive: false, version: '0' });
  if (parsed.type !== 'a2a') throw new Error(JSON.stringify(parsed));
  let settings: ConnectSettings | undefined;
  const exitCode = runA2a(parsed.settings, io, (given) => {
    settings = given;
    return Promise.resolve(agent);
  });
  exitCode.catch(() => undefined);
  return { io, agent, exitCode, settings: () => settings };
}

const made: A2aTask['artifacts'][number] = {
  artifactId: 'a1',
  name: 'review\u001b.md',
  parts: [text('# Two\n\u0007'), { kind: 'data', data: { n: 1 } }, { kind: 'url', url: 'http://u', name: 'f' }],
};

describe('parley card', () => {
  it('shows who an agent is and what it can do', async () => {
    const { io, agent, exitCode, settings } = start('card http://a --header x=y --binding rest');
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe(
      [
        'echo 1.2.3',
        'Says it again',
        'by    Somebody, https://example.test',
        'can   streaming',
        '',
        'interfaces',
        '  JSONRPC 1.0    http://127.0.0.1:1/a2a',
        '',
        'extensions',
        '  urn:example:x required',
        '',
        'skills',
        '  echo Echo #text',
        '    Repeats',
        '',
      ].join('\n'),
    );
    expect(settings()).toMatchObject({ url: 'http://a', binding: 'rest', headers: { x: 'y' } });
    expect(agent.isClosed).toBe(true);
    expect(io.signals.eventNames()).toEqual([]);
  });

  it('as JSON has one of several kinds under the name of the kind', async () => {
    const agent = new FakeConnection();
    const scheme = { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer', description: '', bearerFormat: '' } };
    agent.card = { ...agent.card, securitySchemes: { key: { scheme } } } as typeof agent.card;
    const { io, exitCode } = start('card http://a --json', agent);
    expect(await exitCode).toBe(0);
    expect(JSON.parse(io.out.text)).toMatchObject({
      name: 'echo',
      securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    });
  });
});

describe('parley task', () => {
  it('shows a task with what it has made, safe to print', async () => {
    const agent = new FakeConnection();
    agent.tasks = [task('failed', { message: message('no\u009bway'), artifacts: [made] })];
    const { io, exitCode } = start('task http://a t1', agent);
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe(
      [
        'task    t1',
        'context c1',
        'state   failed  2026-01-02T03:04:05.000Z',
        '',
        'no<9b>way',
        '',
        'artifact review␛.md',
        '# Two',
        '␇',
        'data (7 B)',
        'file f (http://u)',
        '',
      ].join('\n'),
    );
  });

  it('is an error with the reason when there is none', async () => {
    await expect(start('task http://a t1').exitCode).rejects.toThrow('Task not found (TASK_NOT_FOUND)');
  });

  it('--follow stays until it ends, and ends like a call', async () => {
    const agent = new FakeConnection();
    agent.tasks = [task('working')];
    const { io, exitCode } = start('task http://a t1 --follow', agent);
    agent.tell({ kind: 'task', task: task('working') }, artifact([text('x')]), status('rejected', 'no'), 'end');
    expect(await exitCode).toBe(1);
    expect(io.out.text).toBe('x\n');
    expect(io.err.text).toContain('working\nrejected: no\n');
    expect(agent.asked).toEqual(['get t1', 'subscribe t1']);
  });

  it('--follow asks for no stream of a task that has ended', async () => {
    const agent = new FakeConnection();
    agent.tasks = [task('completed', { artifacts: [made] })];
    const { io, exitCode } = start('task http://a t1 --follow', agent);
    expect(await exitCode).toBe(0);
    expect(io.out.text).toBe('# Two\n␇\nhttp://u\n');
    expect(agent.asked).toEqual(['get t1']);
  });

  it('--follow is left without touching the task', async () => {
    const agent = new FakeConnection();
    agent.tasks = [task('working')];
    const { io, exitCode } = start('task http://a t1 --follow', agent);
    agent.tell(artifact([text('x')]));
    await io.out.shows('x');
    io.signals.emit('SIGINT');
    expect(await exitCode).toBe(130);
    expect(agent.asked).toEqual(['get t1', 'subscribe t1']);
    expect(io.signals.eventNames()).toEqual([]);
  });

  it.each([true, false])('--follow ends when its time is over, with streams (%s)', async (streaming) => {
    const agent = new FakeConnection();
    agent.card = { ...agent.card, capabilities: { extensions: [], streaming } };
    agent.tasks = [task('working')];
    const { exitCode } = start('task http://a t1 --follow --timeout 0.02', agent);
    await expect(exitCode).rejects.toThrow('no end within 0.02 seconds: the task goes on');
    expect(agent.asked).not.toContain('cancel t1');
  });

  it('--follow ends when nobody reads any more', async () => {
    const agent = new FakeConnection();
    agent.tasks = [task('working')];
    const { io, exitCode } = start('task http://a t1 --follow', agent);
    agent.tell(artifact([text('x')]));
    await io.out.shows('x');
    io.out.emit('error', new Error('write EPIPE'));
    expect(await exitCode).toBe(141);
  });
});

describe('parley tasks', () => {
  it('lists page by page, and says how many were left out', async () => {
    const agent = new FakeConnection();
    const many = (from: number, count: number): A2aTask[] =>
      Array.from({ length: count }, (_, at) => task('working', { taskId: `t${from + at}` }));
    agent.pages = {
      '': { tasks: many(0, 100), nextPageToken: 'p2', totalSize: 300 },
      p2: { tasks: many(100, 20), nextPageToken: 'p3', totalSize: 300 },
    };
    const { io, exitCode } = start('tasks http://a --limit 120 --status working --context c1', agent);
    expect(await exitCode).toBe(0);
    const rows = io.out.text.trimEnd().split('\n');
    expect(rows).toHaveLength(120);
    expect(rows.at(-1)).toBe('t119  working         2026-01-02T03:04:05.000Z  c1');
    expect(io.err.text).toBe('parley: 120 of 300: --limit shows more\n');
    const filter = { contextId: 'c1', state: 'working', pageSize: 100, historyLength: 0 };
    expect(agent.asked).toEqual([
      `list ${JSON.stringify(filter)}`,
      `list ${JSON.stringify({ ...filter, pageSize: 20, pageToken: 'p2' })}`,
    ]);
  });

  it('ends with an agent that gives the same page for ever', async () => {
    const agent = new FakeConnection();
    const page = { tasks: [task('working')], nextPageToken: 'p', totalSize: 1 };
    agent.pages = { '': page, p: page };
    const { exitCode } = start('tasks http://a', agent);
    expect(await exitCode).toBe(0);
    expect(agent.asked).toHaveLength(2);
  });

  it('says that there are none, and prints lines of JSON', async () => {
    const none = start('tasks http://a');
    expect(await none.exitCode).toBe(0);
    expect([none.io.out.text, none.io.err.text]).toEqual(['', 'parley: no tasks\n']);
    const agent = new FakeConnection();
    agent.pages = { '': { tasks: [task('working')], nextPageToken: undefined, totalSize: 1 } };
    const one = start('tasks http://a --json', agent);
    await one.exitCode;
    expect(JSON.parse(one.io.out.text)).toMatchObject({ taskId: 't1', state: 'working' });
  });
});

describe('parley cancel', () => {
  it('shows the task as it is afterwards', async () => {
    const { io, agent, exitCode } = start('cancel http://a t1');
    expect(await exitCode).toBe(0);
    expect(agent.asked).toEqual(['cancel t1']);
    expect(io.out.text).toBe('t1  canceled        2026-01-02T03:04:05.000Z  c1\n');
  });

  it('says why it could not be', async () => {
    const agent = new FakeConnection();
    agent.onCancel = () => Promise.reject(failure('task_not_cancelable', 'It has ended'));
    await expect(start('cancel http://a t1', agent).exitCode).rejects.toThrow('It has ended (TASK_NOT_CANCELABLE)');
  });
});

describe('parley call', () => {
  it('takes the standard input where it is all there can be, or was asked for', async () => {
    for (const [line, whole] of [
      ['call http://a', 'piped'],
      ['call http://a sum -', 'sum\n\npiped'],
    ] as const) {
      const { io, agent, exitCode } = start(line);
      setImmediate(() => {
        io.stdin.emit('data', Buffer.from('piped'));
        io.stdin.emit('end');
      });
      agent.tell(status('completed'), 'end');
      expect(await exitCode).toBe(0);
      expect(agent.sent?.parts).toEqual([{ kind: 'text', text: whole }]);
    }
  });

  it('does not wait for an input that was left open', async () => {
    const { io, agent, exitCode } = start('call http://a hello');
    agent.tell(status('completed'), 'end');
    expect(await exitCode).toBe(0);
    expect(io.stdin.eventNames()).toEqual([]);
  });

  it('needs a message', async () => {
    await expect(start('call http://a', undefined, fakeIo({ isTty: true })).exitCode).rejects.toThrow(
      'a message is needed',
    );
    const { io, exitCode } = start('call http://a');
    setImmediate(() => io.stdin.emit('end'));
    await expect(exitCode).rejects.toThrow('the message is empty');
  });
});
