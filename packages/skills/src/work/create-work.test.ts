import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@parley/service-kit';
import { translate } from '../index.js';
import { createAgentTasks, createWork } from './create-work.js';
import { pruneJournals } from './prune-journals.js';
import { Recorder, request, text } from './tasks/task.test-helper.js';
import { readWorkConfig } from './work-env.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'work-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const options = (env: Record<string, string>) => ({
  agentId: 'agent_T',
  config: readWorkConfig(env),
  logger: silentLogger,
});

describe('the work of an agent service', () => {
  it('is offline without a model, and records each context in the folder', async () => {
    const [worked] = createWork([translate], options({ AGENT_SESSIONS_DIR: folder }));
    const context = (contextId: string) => ({
      parameters: { target_language: 'de' },
      signal: new AbortController().signal,
      contextId,
    });
    const answer = await worked?.run({ text: 'agent' }, context('agr-1/call-1'));
    await worked?.run({ text: 'agent' }, context('agr-1/call-2'));
    expect(answer).toMatchObject({ run: { model: 'offline', offline: true } });
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(2);
  });

  it('is refused where its journal cannot be kept', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const [worked] = createWork([translate], options({ AGENT_SESSIONS_DIR: join(file, 'below') }));
    const work = worked?.run(
      { text: 'agent' },
      { parameters: { target_language: 'de' }, signal: new AbortController().signal, contextId: 'a/b' },
    );
    await expect(work).rejects.toMatchObject({ reason: 'unavailable', code: 'journal_unavailable' });
  });

  it.each([
    [{ OPENAI_API_KEY: 'k' }, 'OPENAI_MODEL'],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_MODEL: 'm' }, 'OPENAI_API_KEY'],
  ])('does not fall back to the offline model when %j describes half of one', (env, missing) => {
    expect(() => createWork([translate], options(env))).toThrow(missing);
  });

  it('names the variable that is wrong', () => {
    expect(() => readWorkConfig({ AGENT_MAX_STEPS: '0', OPENAI_BASE_URL: 'ftp://x' })).toThrow(
      /OPENAI_BASE_URL[\s\S]*AGENT_MAX_STEPS/u,
    );
  });
});

describe('the tasks of an agent service', () => {
  it('are done offline without a model, and recorded by context, to be gone on with', async () => {
    const reporter = new Recorder();
    const env = options({ AGENT_SESSIONS_DIR: folder });
    const outcome = await createAgentTasks([translate], env).execute(
      request([text('translate into German: The house is big.')]),
      reporter,
    );
    await createAgentTasks([translate], env).execute(request([text('Now into Russian')]), reporter);
    expect(outcome).toMatchObject({ state: 'completed', metadata: { run: { model: 'offline', offline: true } } });
    expect(reporter.artifacts).toHaveLength(2);
    expect(reporter.output('translate')).toMatchObject({ source_language: 'de', target_language: 'ru' });
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
  });
});

describe('pruneJournals', () => {
  it('keeps those that were written to last, and takes lock files along', async () => {
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) {
      for (const suffix of ['.jsonl', '.jsonl.lock']) await writeFile(join(folder, name + suffix), '');
      await utimes(join(folder, `${name}.jsonl`), 1_000 + at, 1_000 + at);
    }
    await writeFile(join(folder, 'notes.txt'), '');
    expect(await pruneJournals(folder, 2)).toBe(2);
    expect((await readdir(folder)).sort()).toEqual(['c.jsonl', 'c.jsonl.lock', 'd.jsonl', 'd.jsonl.lock', 'notes.txt']);
    expect(await pruneJournals(folder, 2)).toBe(0);
  });

  it('has nothing to do in a folder that is not there', async () => {
    expect(await pruneJournals(join(folder, 'none'), 1)).toBe(0);
  });
});
