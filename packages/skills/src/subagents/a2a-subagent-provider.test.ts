import { connectA2a } from '@parley/agent';
import { done, endOf } from '../../../agent/src/a2a/delegate/delegation.test-helper.js';
import type { Work } from '../../../agent/src/a2a/delegate/partners.test-helper.js';
import { endless, readAll, subject } from './a2a-subagent.test-helper.js';

const SCHEMA = { type: 'object', properties: { faults: { type: 'integer' } }, required: ['faults'] } as const;

describe('a subagent elsewhere', () => {
  it('tells what its agent says and delivers, and gives all that was written', async () => {
    const { partner, start } = await subject();
    await partner('one', (_request, reporter) => {
      reporter.working('reading');
      const artifact = (id: string, text: string, more: object = {}) => {
        reporter.artifact({ artifactId: id, name: id, parts: [{ kind: 'text', text }], ...more });
      };
      artifact('a', 'first ', { lastChunk: false });
      artifact('a', 'half', { append: true });
      artifact('b', 'second');
      reporter.artifact({ artifactId: 'c', name: 'numbers', parts: [{ kind: 'data', data: [1] }] });
      return { state: 'completed', text: 'all read' };
    });
    const run = await start();
    const updates = await readAll(run.updates);
    expect(await run.result).toEqual({ stopReason: 'completed', output: 'first half\n\nsecond' });
    expect(updates).toEqual(
      ['reading', 'first ', 'half', 'second', '[numbers]'].map((text) => ({ kind: 'text', text })),
    );
    await run.dispose();
  });

  it('gives what was said where nothing was written', async () => {
    const { partner, start } = await subject();
    await partner('one', () => ({ state: 'completed', text: 'nothing to say' }));
    expect(await (await start()).result).toEqual({ stopReason: 'completed', output: 'nothing to say' });
  });

  it('is chosen by the label of the request, with the parameters for it, and told all parts of the prompt', async () => {
    const { partner, start, main } = await subject({
      errands: { thorough: { capability: 'code_review', parameters: { style: 'long', depth: 2 } } },
    });
    const one = await partner('one', done);
    const run = await start({
      label: 'thorough',
      parent: { agentId: 'parent', depth: 2 },
      prompt: [
        { type: 'text', text: 'look' },
        { type: 'resource_link', uri: 'http://x.test/a.ts', name: 'a.ts', mimeType: 'text/plain' },
      ],
    });
    await run.result;
    await run.dispose();
    expect(one.work).toMatchObject([
      {
        capability: 'code_review',
        parameters: { style: 'long', depth: 2 },
        hops: 3,
        parts: [
          { kind: 'text', text: 'look' },
          { kind: 'url', url: 'http://x.test/a.ts', name: 'a.ts' },
        ],
      },
    ]);
    expect(await endOf(one)).toBe('completed');
    expect(main.agreements.size).toBe(0);
  });

  it('does not take labels for names of other things', async () => {
    const { partner, start } = await subject({ errands: {} });
    await partner('one', done);
    expect(await (await start({ label: 'constructor' })).result).toMatchObject({ stopReason: 'completed' });
  });

  it('is not started deeper than work may be handed on', async () => {
    const { partner, start } = await subject();
    const one = await partner('one', done);
    const refused = start({ parent: { agentId: 'parent', depth: 4 } });
    await expect(refused).rejects.toMatchObject({ code: 'subagent_start_failed' });
    expect(one.work).toEqual([]);
  });

  it.each([
    ['rejected', 'refusal', 'not this'],
    ['failed', 'error', 'broken'],
    ['input_required', 'error', 'which one?'],
  ] as const)('whose task ends %s stops with %s, and says why', async (state, stopReason, text) => {
    const { partner, start, main } = await subject();
    const one = await partner('one', () => ({ state, text }));
    const two = await partner('two', done);
    const run = await start();
    expect(await run.result).toMatchObject({
      stopReason,
      output: '',
      diagnostic: expect.stringContaining(text) as string,
    });
    await run.dispose();
    expect([one.work.length, two.work.length]).toEqual([1, 0]);
    expect([main.agreements.size, one.engine.running]).toEqual([0, 0]);
  });

  it('whose task is cancelled by others is aborted', async () => {
    const { partner, start } = await subject();
    const { work, begun } = endless();
    const one = await partner('one', work);
    const run = await start();
    await begun;
    const [request] = one.work;
    const connection = await connectA2a({ url: one.url });
    await connection.cancelTask(request?.taskId ?? '');
    await connection.close();
    expect(await run.result).toMatchObject({ stopReason: 'aborted' });
  });

  it('that fails with what is not for others does not say it', async () => {
    const { partner, start } = await subject();
    await partner('one', () => {
      throw new Error('swordfish');
    });
    const result = await (await start()).result;
    expect(result.stopReason).toBe('error');
    expect(JSON.stringify(result)).not.toContain('swordfish');
  });
});

describe('values', () => {
  const artifact =
    (data: unknown): Work =>
    (_request, reporter) => {
      reporter.artifact({
        artifactId: 'r',
        name: 'r',
        parts: [
          { kind: 'text', text: 'words' },
          { kind: 'data', data },
        ],
      });
      return { state: 'completed' };
    };
  const errand = { capability: 'code_review', outputSchema: SCHEMA };

  it('are asked for only where a capability promises them', async () => {
    const { partner, start, provider } = await subject({ errands: { other: errand } });
    const one = await partner('one', artifact({ faults: 1 }));
    expect(provider.capabilities.outputSchema).toBe(true);
    await expect(start({ outputSchema: SCHEMA })).rejects.toMatchObject({ code: 'subagent_capability_missing' });
    expect(one.work).toEqual([]);
    const run = await start({ label: 'other', outputSchema: SCHEMA });
    expect(await run.result).toEqual({
      stopReason: 'completed',
      output: '{"faults":1}',
      structured: { faults: 1 },
    });
  });

  it('may come as a file of JSON', async () => {
    const { partner, start } = await subject({ errand });
    await partner('one', (_request, reporter) => {
      const file = (text: string, name: string, mediaType: string) => {
        reporter.artifact({
          artifactId: name,
          name,
          parts: [{ kind: 'bytes', bytes: Buffer.from(text), name, mediaType }],
        });
      };
      file('{"faults":4}', 'a.json', 'application/json; charset=utf-8');
      file('{"faults":', 'broken.json', 'application/json');
      file('{"faults":5}', 'a.txt', 'text/plain');
      return { state: 'completed' };
    });
    expect(await (await start({ outputSchema: SCHEMA })).result).toMatchObject({ structured: { faults: 4 } });
  });

  it.each([
    ['what the capability promises', { faults: 'many' }, { type: 'object' }, '/faults'],
    ['what the request asks for', { faults: 1 }, { type: 'array' }, 'the value'],
    ['anything, for there are none', undefined, SCHEMA, 'no data'],
  ])('that do not fit %s are no result', async (_what, data, outputSchema, told) => {
    const { partner, start } = await subject({ errand });
    await partner('one', data === undefined ? done : artifact(data));
    const result = await (await start({ outputSchema })).result;
    expect(result).toMatchObject({ stopReason: 'error', diagnostic: expect.stringContaining(told) as string });
    expect(result).not.toHaveProperty('structured');
    expect(result.diagnostic).not.toContain('many');
  });

  it('cannot be asked for by a schema that is none', async () => {
    const { start } = await subject({ errand });
    await expect(start({ outputSchema: { type: 'nothing' } })).rejects.toMatchObject({
      code: 'subagent_schema_invalid',
    });
  });
});
