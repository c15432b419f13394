import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcpSubagentProvider, type AcpSubagentOptions } from '@parley/acp';
import { Agent, call, say, ScriptedModel, SubagentRegistry, subagentTool, type SubagentResult } from '@parley/harness';
import { eventually } from '@parley/testkit';
import { AcpProcesses, processesNaming } from './support/acp-processes.js';
import { finish, taskRequest } from './support/subagent-work.js';

const PARLEY = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'parley.js');
const TEXT = 'written by a child\n';
const WRITE = JSON.stringify({ tool: 'write_file', arguments: { path: 'made.txt', content: TEXT } });
/** A number of seconds that nobody else sleeps. */
const SECONDS = `61.${randomInt(1e6, 1e7)}`;
const SLEEP = JSON.stringify({ tool: 'shell', arguments: { command: `sleep ${SECONDS}; echo slept > made.txt` } });

let folder: string;
let home: string;
let processes: AcpProcesses;
let provider: AcpSubagentProvider | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley acp-'));
  home = mkdtempSync(join(tmpdir(), 'parley-acp-home-'));
  processes = new AcpProcesses(randomUUID());
});

afterEach(async () => {
  await provider?.close();
  provider = undefined;
  processes.kill();
  for (const path of [folder, home]) rmSync(path, { recursive: true, force: true });
});

/** Children are our own program with the offline model, which may do without asking what `allow` says. */
function parley(allow: string, options: Partial<AcpSubagentOptions> = {}): AcpSubagentProvider {
  provider = new AcpSubagentProvider({
    command: process.execPath,
    args: [PARLEY, 'acp', '--offline', '--allow', allow],
    cwd: folder,
    env: { HOME: home, ...processes.env },
    ...options,
  });
  return provider;
}

const work = async (subject: AcpSubagentProvider, task: string) => finish(await subject.start(taskRequest(task)));

const made = (): string | undefined => {
  const file = join(folder, 'made.txt');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
};

describe('parley acp as a child', () => {
  it('answers a prompt', async () => {
    const { result, updates } = await work(parley('read'), 'Hello, what can you do?');
    expect(result).toMatchObject({ stopReason: 'completed' });
    expect(result.output).toContain('offline model');
    expect(updates.some(({ kind }) => kind === 'text')).toBe(true);
    expect(processes.alive()).toEqual([]);
  }, 60_000);

  it('writes a file that it may write', async () => {
    const { result, updates } = await work(parley('write'), WRITE);
    expect(result.stopReason).toBe('completed');
    expect(made()).toBe(TEXT);
    expect(updates).toContainEqual(expect.objectContaining({ kind: 'tool_started' }));
    expect(updates).toContainEqual(expect.objectContaining({ kind: 'tool_completed', failed: false }));
    expect(processes.alive()).toEqual([]);
  }, 60_000);

  it('asks, and writes the file when the policy allows it', async () => {
    const questions: string[] = [];
    const subject = parley('read', {
      permission: (question) => {
        questions.push(question.title);
        return 'allow';
      },
    });
    const { result } = await work(subject, WRITE);
    expect(result.stopReason).toBe('completed');
    expect(questions).toHaveLength(1);
    expect(made()).toBe(TEXT);
  }, 60_000);

  it('asks, is refused unless something else is configured, and tells its model', async () => {
    const { result, updates } = await work(parley('read'), WRITE);
    expect(result.stopReason).toBe('completed');
    expect(result.output).toMatch(/denied/iu);
    expect(updates).toContainEqual(expect.objectContaining({ kind: 'tool_completed', failed: true }));
    expect(made()).toBeUndefined();
  }, 60_000);

  it('is cancelled in the middle of a command, and nothing of it is left', async () => {
    const controller = new AbortController();
    const run = await parley('all').start(taskRequest(SLEEP, controller.signal));
    for await (const update of run.updates) {
      if (update.kind !== 'tool_started') continue;
      await eventually(() => expect(processesNaming(`sleep ${SECONDS}`)).not.toEqual([]));
      controller.abort(new Error('changed my mind'));
    }
    expect((await run.result).stopReason).toBe('aborted');
    await run.dispose();
    expect(processes.alive()).toEqual([]);
    expect(processesNaming(`sleep ${SECONDS}`)).toEqual([]);
    expect(made()).toBeUndefined();
  }, 60_000);

  it('does its work from a pool too, with a session of its own each time', async () => {
    const subject = parley('write', { pool: { size: 1, idleMs: 60_000 } });
    const answers: SubagentResult[] = [];
    for (const content of ['one', 'two']) {
      const task = JSON.stringify({ tool: 'write_file', arguments: { path: `${content}.txt`, content } });
      answers.push((await work(subject, task)).result);
      expect(readFileSync(join(folder, `${content}.txt`), 'utf8')).toBe(content);
    }
    expect(answers.map(({ stopReason }) => stopReason)).toEqual(['completed', 'completed']);
    await subject.close();
    expect(processes.alive()).toEqual([]);
  }, 60_000);

  it('is used by a parent agent through the tool subagent', async () => {
    const subagents = new SubagentRegistry();
    subagents.register('parley', parley('write'));
    const model = new ScriptedModel([
      say(null, call('c1', 'subagent', { task: WRITE, label: 'writes' })),
      say('The child has written it.'),
    ]);
    const parent = new Agent(model, { agentId: 'parent', handlers: [subagentTool(subagents)] });
    await parent.start();
    const result = await parent.run('Have made.txt written.');
    await parent.shutdown();
    expect(result).toMatchObject({ status: 'completed', output: 'The child has written it.' });
    expect(made()).toBe(TEXT);
    const answer = model.requests[1]?.messages.at(-1);
    expect(JSON.stringify(answer)).toContain('made.txt');
    expect(processes.alive()).toEqual([]);
  }, 60_000);
});
