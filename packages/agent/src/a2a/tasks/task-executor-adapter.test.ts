import { STATE_HEADERS_KEY, ServerCallContext } from '@a2a-js/sdk/server';
import { AppError } from '@parley/service-kit';
import type { Part } from '@a2a-js/sdk';
import { asTask, callBy, sending, stateIn, testEngine, type Sent } from '../../../test-support/a2a-engine.js';
import type { TaskRequest } from '../task-executor.js';
import { fromPart, toPart } from './task-parts.js';
import { taskExecutorAdapter } from './task-executor-adapter.js';

const call = callBy();

function data(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' };
}

async function requestFor(sent: Sent, by: ServerCallContext = call): Promise<TaskRequest> {
  const { handler, executor } = testEngine();
  const answer = handler.sendMessage(sending('hello', sent), by);
  const { request, end } = await Promise.race([executor.work(), answer.then(() => executor.work())]);
  end();
  await answer;
  return request;
}

describe('what is to be done', () => {
  it('is said by words alone', async () => {
    expect(await requestFor({ messageId: 'm' })).toMatchObject({
      messageId: 'm',
      parts: [{ kind: 'text', text: 'hello', mediaType: 'text/plain' }],
      capability: undefined,
      parameters: {},
      agreement: undefined,
      hops: 0,
      isFollowUp: false,
    });
  });

  it('is said by metadata, which goes before data', async () => {
    const metadata = { capability: 'translate', parameters: { language: 'de', formal: true, words: 7 } };
    const parts = [data({ capability: 'other', input: { text: 'x' }, parameters: { language: 'fr' } })];
    expect(await requestFor({ metadata, parts })).toMatchObject({
      ...metadata,
      parts: [{ kind: 'data', data: { text: 'x' } }],
    });
  });

  it('is said by the first data part, of which the input is handed on', async () => {
    const parts = [
      data({ capability: 'translate', input: 'guten Tag', parameters: { language: 'en' } }),
      data({ more: 1 }),
    ];
    expect(await requestFor({ parts })).toMatchObject({
      capability: 'translate',
      parameters: { language: 'en' },
      parts: [
        { kind: 'text', text: 'guten Tag' },
        { kind: 'data', data: { more: 1 } },
      ],
    });
  });

  it('is not said by data that only looks a little like it', async () => {
    const value = { capability: 'translate', input: 'x', weather: 'fine' };
    expect(await requestFor({ parts: [data(value)] })).toMatchObject({
      capability: undefined,
      parts: [{ data: value }],
    });
  });

  it.each([
    [{ capability: 7 }, 'message.metadata.capability'],
    [{ parameters: ['x'] }, 'parameters'],
    [{ parameters: { a: { b: 1 } } }, 'parameters.a'],
  ])('is refused for %j before there is a task', async (metadata, path) => {
    const { handler, executor } = testEngine();
    const refusal = await handler.sendMessage(sending('x', { metadata }), call).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AppError);
    expect((refusal as AppError).errors[0]?.path).toBe(path);
    expect(executor.works).toHaveLength(0);
  });

  it('comes with the number of delegations, the larger one that is told', async () => {
    const withHeader = (value: string): ServerCallContext =>
      new ServerCallContext({ state: new Map([[STATE_HEADERS_KEY, { 'parley-hops': value }]]) });
    const metadata = { 'urn:parley:hops': 2 };
    expect((await requestFor({ metadata })).hops).toBe(2);
    expect((await requestFor({ metadata }, withHeader('3'))).hops).toBe(3);
    expect((await requestFor({ metadata: { 'urn:parley:hops': 'none' } })).hops).toBe(Number.MAX_SAFE_INTEGER);
    expect((await requestFor({}, withHeader('-1'))).hops).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('belongs to a context of its caller, whatever others call theirs', async () => {
    const [ann, again, bea] = [callBy(), callBy(), callBy('bea')];
    const ids = await Promise.all(
      [ann, again, bea].map(async (by) => (await requestFor({ contextId: 'c' }, by)).contextId),
    );
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
    expect((await requestFor({ contextId: 'c' }, new ServerCallContext())).contextId).toBe('c');
  });
});

describe('tasks of one context', () => {
  it('are done one after the other; of different ones side by side', async () => {
    const { handler, executor } = testEngine();
    const answers = ['a', 'a', 'b'].map((contextId) => handler.sendMessage(sending('x', { contextId }), call));
    (await executor.work(1)).end();
    expect(executor.works.map(({ request }) => request.contextId === executor.works[0]?.request.contextId)).toEqual([
      true,
      false,
    ]);
    (await executor.work(0)).end();
    (await executor.work(2)).end();
    await Promise.all(answers);
  });

  it('can be cancelled while they wait, and the next one does not begin before its turn', async () => {
    const { handler, executor } = testEngine();
    const send = () => handler.sendMessage(sending('x', { contextId: 'a' }), call);
    const first = send();
    const work = await executor.work();
    const waiting = asTask(await handler.sendMessage(sending('x', { contextId: 'a', immediately: true }), call));
    const third = send();
    expect(stateIn(await handler.cancelTask({ tenant: '', id: waiting.id, metadata: undefined }, call))).toBe(
      'CANCELED',
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(executor.works).toHaveLength(1);
    work.end();
    (await executor.work(1)).end();
    await Promise.all([first, third]);
    expect([executor.works.length, executor.mostAtOnce]).toEqual([2, 1]);
  });

  it('are refused beyond the number that may wait', async () => {
    const manual = testEngine().executor;
    const { handler } = testEngine({ executor: taskExecutorAdapter(manual, { maxWaitingPerContext: 1 }) });
    const send = () => handler.sendMessage(sending('x', { contextId: 'a' }), call);
    const answers = [send(), send()];
    await manual.work();
    await expect(send()).rejects.toMatchObject({ code: 'context_busy' });
    (await manual.work()).end();
    (await manual.work(1)).end();
    await Promise.all(answers);
  });
});

describe('parts', () => {
  it.each([
    { kind: 'text', text: 'x', mediaType: 'text/markdown' } as const,
    { kind: 'data', data: { a: [1, null] }, mediaType: 'application/json' } as const,
    { kind: 'bytes', bytes: Buffer.from([0, 255]), name: 'b.bin', mediaType: 'image/png' } as const,
    { kind: 'url', url: 'https://x/y', name: 'y' } as const,
  ])('travel unchanged: %j', (part) => {
    expect(fromPart(toPart(part))).toEqual(part);
  });

  it('that are a view of something longer are only what they show', () => {
    const bytes = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    expect(toPart({ kind: 'bytes', bytes }).content).toEqual({ $case: 'raw', value: Buffer.from([2, 3]) });
  });
});
