import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@parley/service-kit';
import { translate } from '../index.js';
import { createAgentTasks } from './create-agent-tasks.js';
import { pruneJournals } from './prune-journals.js';
import { data, Recorder, request, text } from './tasks/task.test-helper.js';
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
  const call = (contextId: string) =>
    request([data({ input: { text: 'agent' } })], {
      capability: 'translate',
      parameters: { target_language: 'de' },
      contextId,
      standsAlone: true,
    });

  it('is done offline without a model, and recorded by context, to be gone on with', async () => {
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

  it('records each call in the same folder as the tasks', async () => {
    const work = createAgentTasks([translate], options({ AGENT_SESSIONS_DIR: folder }));
    await work.execute(request([text('translate into German: The house is big.')]), new Recorder());
    const outcome = await work.execute(call('agr-1/call-1'), new Recorder());
    await work.execute(call('agr-1/call-2'), new Recorder());
    expect(outcome.output).toMatchObject({ translation: 'Agent', run: { model: 'offline', offline: true } });
    expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(3);
  });

  it('is refused where its journal cannot be kept', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const work = createAgentTasks([translate], options({ AGENT_SESSIONS_DIR: join(file, 'below') }));
    await expect(work.execute(call('a/b'), new Recorder())).rejects.toMatchObject({
      reason: 'unavailable',
      code: 'journal_unavailable',
    });
  });

  it.each([
    [{ OPENAI_API_KEY: 'k' }, 'OPENAI_MODEL'],
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_MODEL: 'm' }, 'OPENAI_API_KEY'],
  ])('does not fall back to the offline model when %j describes half of one', (env, missing) => {
    expect(() => createAgentTasks([translate], options(env))).toThrow(missing);
  });

  it('names the variable that is wrong', () => {
    expect(() => readWorkConfig({ AGENT_MAX_STEPS: '0', OPENAI_BASE_URL: 'ftp://x' })).toThrow(
      /OPENAI_BASE_URL[\s\S]*AGENT_MAX_STEPS/u,
    );
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
