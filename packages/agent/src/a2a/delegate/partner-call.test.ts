import { getEventListeners } from 'node:events';
import { AppError } from '@parley/service-kit';
import { onTestsEnd, waitFor } from '@parley/testkit';
import type { AgreementGate } from '../agreement/index.js';
import { connectA2a } from '../client/index.js';
import { done, endOf, over, setting, silentGate } from './delegation.test-helper.js';
import { startPartner, untilAborted, wireTo, type PartnerOptions, type Wire } from './partners.test-helper.js';

describe('a partner that has begun is not replaced', () => {
  it('when its stream breaks: it is taken up, and the work done once', async () => {
    const { partner, run } = await setting();
    const goOn = Promise.withResolvers<undefined>();
    const one = await partner('one', async (_request, reporter) => {
      reporter.artifact({ artifactId: 'r', name: 'review', parts: [{ kind: 'text', text: 'half' }], lastChunk: false });
      reporter.working('half way');
      await goOn.promise;
      reporter.artifact({ artifactId: 'r', name: 'review', parts: [{ kind: 'text', text: 'whole' }], append: true });
      return { state: 'completed' };
    });
    const two = await partner('two', done);
    const wire = await wireTo(one.url);
    const heard = Promise.withResolvers<undefined>();
    const result = run(
      { onProgress: (text) => text === 'half way' && heard.resolve(undefined) },
      { connect: over(wire) },
    );
    await heard.promise;
    await wire.cut('stay');
    goOn.resolve(undefined);
    const { artifacts } = await result;
    expect(artifacts).toMatchObject([{ parts: [{ text: 'half' }, { text: 'whole' }] }]);
    expect([one.work.length, two.work.length]).toEqual([1, 0]);
  });

  it('when its stream breaks before it told of a task: the task is found', async () => {
    const { partner, run } = await setting();
    const goOn = Promise.withResolvers<undefined>();
    const one = await partner('one', async (_request, reporter) => {
      await goOn.promise;
      reporter.working('now');
      await Promise.resolve();
      return { state: 'completed', text: 'late' };
    });
    const two = await partner('two', done);
    const wire = await wireTo(one.url);
    const through = over(wire);
    const result = run(
      {},
      {
        connect: async (to, signal) => {
          const connection = await through(to, signal);
          return Object.assign(Object.create(connection) as typeof connection, {
            card: connection.card,
            stream: (...args: Parameters<typeof connection.stream>) => swallowFirst(connection.stream(...args), wire),
            subscribe: connection.subscribe.bind(connection),
            listTasks: connection.listTasks.bind(connection),
            getTask: connection.getTask.bind(connection),
            cancelTask: connection.cancelTask.bind(connection),
            close: connection.close.bind(connection),
          });
        },
      },
    );
    await waitFor(() => one.work.length === 1);
    goOn.resolve(undefined);
    expect(await result).toMatchObject({ agentId: 'one', text: 'late', attempts: [] });
    expect([one.work.length, two.work.length]).toEqual([1, 0]);
  });

  it('when it is gone for good: what it did is not known, and said to be', async () => {
    const { main, partner, run } = await setting();
    const one = await partner('one', async ({ signal }, reporter) => {
      reporter.working('begun');
      return untilAborted(signal);
    });
    const two = await partner('two', done);
    const wire = await wireTo(one.url);
    const heard = Promise.withResolvers<undefined>();
    const result = run(
      { onProgress: () => heard.resolve(undefined) },
      { connect: over(wire), limits: { settleMs: 300 } },
    );
    await Promise.race([heard.promise, result]);
    const failed = expect(result).rejects.toMatchObject({
      reason: 'bad_gateway',
      code: 'delegate_failed',
      message: expect.stringContaining('not known') as string,
    });
    await wire.cut('gone');
    await failed;
    expect([one.work.length, two.work.length]).toEqual([1, 0]);
    expect(main.agreements.size).toBe(0);
  });

  it('when it forgot the task', async () => {
    const { partner, run } = await setting();
    const one = await partner('one', async ({ signal }, reporter) => {
      reporter.working('begun');
      return untilAborted(signal);
    });
    const other = await startPartner('one-again', { work: done });
    const wire = await wireTo(one.url);
    const heard = Promise.withResolvers<undefined>();
    let target = over(wire);
    const result = run(
      { onProgress: () => heard.resolve(undefined) },
      {
        connect: async (to, signal) => {
          const connection = await target(to, signal);
          const fresh = await connectA2a({ url: other.url });
          onTestsEnd(() => fresh.close());
          return Object.assign(Object.create(connection) as typeof connection, {
            stream: connection.stream.bind(connection),
            close: connection.close.bind(connection),
            cancelTask: fresh.cancelTask.bind(fresh),
            subscribe: fresh.subscribe.bind(fresh),
            getTask: fresh.getTask.bind(fresh),
          });
        },
      },
    );
    target = over(wire);
    await heard.promise;
    const failed = expect(result).rejects.toMatchObject({
      code: 'delegate_failed',
      message: expect.stringContaining('not known') as string,
    });
    await wire.cut('gone');
    await failed;
  });

  it.each([
    ['failed', { state: 'failed', text: 'no disk' }, 'one ended the task failed: no disk.'],
    ['rejected', { state: 'rejected', text: 'not my kind' }, 'one ended the task rejected: not my kind.'],
  ] as const)('when it ends the task %s', async (_name, outcome, message) => {
    const { partner, run } = await setting();
    await partner('one', () => outcome);
    const two = await partner('two', done);
    await expect(run()).rejects.toMatchObject({ reason: 'bad_gateway', code: 'delegate_failed', message });
    expect(two.work).toHaveLength(0);
  });

  it('when it asks for something: its task is cancelled', async () => {
    const { partner, run } = await setting();
    const one = await partner('one', () => ({ state: 'input_required', text: 'which branch?' }));
    await expect(run()).rejects.toMatchObject({
      code: 'delegate_failed',
      message: 'one asked for something that nobody here can answer: which branch?.',
    });
    const client = await connectA2a({ url: one.url });
    onTestsEnd(() => client.close());
    await expect(client.getTask(one.work[0]?.taskId ?? '')).resolves.toMatchObject({ state: 'canceled' });
  });

  it('when it makes more than is taken, or takes too long: its task is cancelled', async () => {
    const { partner, run } = await setting();
    const aborted: string[] = [];
    const one = await partner('one', async ({ signal, taskId }, reporter) => {
      reporter.artifact({ artifactId: 'r', name: 'r', parts: [{ kind: 'text', text: 'x'.repeat(5_000) }] });
      return untilAborted(signal).finally(() => aborted.push(taskId));
    });
    await expect(run({}, { limits: { maxArtifactBytes: 4_000 } })).rejects.toMatchObject({
      code: 'delegate_failed',
      message: 'one made more than is taken.',
    });
    await expect(run({}, { limits: { taskMs: 400 } })).rejects.toMatchObject({
      code: 'delegate_failed',
      message: 'one took too long; its task was cancelled.',
    });
    await waitFor(() => aborted.length === 2);
    expect(aborted.sort()).toEqual(one.work.map(({ taskId }) => taskId).sort());
  });
});

describe('what was not done as agreed', () => {
  const lie = (
    metadata: (truth: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
  ): Partial<PartnerOptions> => ({
    gate: (gate) => ({
      admit: async (message, context) => {
        const admitted = await gate.admit(message, context);
        return (
          admitted && {
            ...admitted,
            answerMetadata: metadata(admitted.answerMetadata),
            release: () => admitted.release(),
          }
        );
      },
    }),
  });

  it.each([
    ['another value', lie((truth) => ({ ...truth, applied: { style: 'short', depth: 1 } }))],
    ['one parameter less', lie((truth) => ({ ...truth, applied: { style: 'long' } }))],
    ['one parameter more', lie((truth) => ({ ...truth, applied: { style: 'long', depth: 1, tone: 'x' } }))],
    ['other terms', lie((truth) => ({ ...truth, terms_digest: `sha256:${'x'.repeat(43)}` }))],
    ['nonsense', lie(() => ({ applied: 7 }))],
    ['nothing', { gate: () => ({ admit: () => Promise.resolve(undefined) }) }],
  ])('is no result: %s', async (_name, options) => {
    const { partner, run } = await setting();
    const one = await partner('one', done, options);
    await expect(run({ parameters: { style: 'long' } })).rejects.toMatchObject({
      reason: 'bad_gateway',
      code: 'agreement_applied_mismatch',
    });
    await waitFor(async () => (await endOf(one)) === 'breach');
  });
});

describe('an abort', () => {
  it('cancels the task of the partner, and leaves nothing behind', async () => {
    const { main, partner, run } = await setting();
    let stopped = false;
    const one = await partner('one', async ({ signal }, reporter) => {
      reporter.working('begun');
      return untilAborted(signal).finally(() => (stopped = true));
    });
    const controller = new AbortController();
    const result = run({
      signal: controller.signal,
      onProgress: () => {
        controller.abort();
      },
    });
    await expect(result).rejects.toMatchObject({ reason: 'cancelled' });
    expect(stopped).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(main.agreements.size).toBe(0);
    await waitFor(async () => (await endOf(one)) === 'released_by_initiator');
    await expect(run({ signal: controller.signal })).rejects.toMatchObject({ reason: 'cancelled' });
    expect(one.work).toHaveLength(1);
  });

  it('before the partner said a word waits for it, so that its task can be cancelled', async () => {
    const { partner, run } = await setting();
    const controller = new AbortController();
    const speak = Promise.withResolvers<undefined>();
    const slow = (gate: AgreementGate): AgreementGate => ({
      admit: async (...call) => {
        controller.abort();
        await speak.promise;
        return gate.admit(...call);
      },
    });
    const stopped = Promise.withResolvers<undefined>();
    await partner('one', ({ signal }) => untilAborted(signal).finally(() => stopped.resolve(undefined)), {
      gate: slow,
    });
    const result = run({ signal: controller.signal });
    const failed = expect(result).rejects.toMatchObject({ reason: 'cancelled' });
    controller.signal.addEventListener('abort', () => setImmediate(() => speak.resolve(undefined)));
    await failed;
    await stopped.promise;
  });

  it('at a partner that is silent is over all the same', async () => {
    const { partner, run } = await setting();
    const controller = new AbortController();
    const reason = new AppError('unavailable', 'The agent is shutting down.', { code: 'shutting_down' });
    const silent = silentGate(() => {
      controller.abort(reason);
    });
    await partner('one', done, { gate: silent });
    await expect(run({ signal: controller.signal }, { limits: { cancelMs: 200 } })).rejects.toBe(reason);
  });
});

/** Lets the first word of a stream get lost, together with the connection. */
async function* swallowFirst<T>(updates: AsyncIterable<T>, wire: Wire): AsyncGenerator<T> {
  for await (const update of updates) {
    if (update === undefined) yield update;
    await wire.cut('stay');
    throw new AppError('unavailable', 'The peer cannot be reached.', { code: 'peer_unreachable' });
  }
}
