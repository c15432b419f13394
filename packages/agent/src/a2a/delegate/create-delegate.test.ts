import { AppError } from '@parley/service-kit';
import { freePort, waitFor } from '@parley/testkit';
import { connectA2a } from '../client/index.js';
import type { DelegateOptions } from './create-delegate.js';
import { done, endOf, over, setting, silentGate } from './delegation.test-helper.js';
import { wireTo } from './partners.test-helper.js';

describe('work that is handed on', () => {
  it('is done as agreed by somebody else, and told of on the way', async () => {
    const { main, partner, run } = await setting();
    const one = await partner('one', (_request, reporter) => {
      reporter.working('reading');
      reporter.artifact({ artifactId: 'r', name: 'review', parts: [{ kind: 'text', text: 'fine' }], lastChunk: false });
      reporter.artifact({
        artifactId: 'r',
        name: 'review',
        parts: [{ kind: 'data', data: { faults: 0 } }],
        append: true,
      });
      reporter.artifact({
        artifactId: 'x',
        name: 'extra',
        parts: [{ kind: 'bytes', bytes: Buffer.from('b'), name: 'b.bin' }],
      });
      return { state: 'completed', text: 'all read' };
    });
    const progress: string[] = [];
    const result = await run({
      parameters: { style: 'long' },
      hops: 2,
      onProgress: (text) => {
        progress.push(text);
        throw new Error('a listener that fails');
      },
    });
    expect(result).toMatchObject({
      agentId: 'one',
      applied: { style: 'long', depth: 1 },
      text: 'all read',
      attempts: [],
      artifacts: [
        {
          artifactId: 'r',
          name: 'review',
          parts: [
            { kind: 'text', text: 'fine' },
            { kind: 'data', data: { faults: 0 } },
          ],
        },
        { artifactId: 'x', name: 'extra', parts: [{ kind: 'bytes', name: 'b.bin' }] },
      ],
    });
    expect(progress).toContain('reading');
    const [request] = one.work;
    expect(request).toMatchObject({
      taskId: result.taskId,
      capability: 'code_review',
      parameters: { style: 'long', depth: 1 },
      hops: 3,
      agreement: { agreementId: result.agreementId },
      parts: [{ kind: 'text', text: 'look' }],
    });
    await waitFor(async () => (await endOf(one)) === 'completed');
    expect(main.agreements.size).toBe(0);
  });

  it('is not handed on for ever', async () => {
    const { partner, run } = await setting();
    const one = await partner('one', done);
    await expect(run({ hops: 4 })).rejects.toMatchObject({
      reason: 'failed_precondition',
      code: 'delegation_too_deep',
    });
    await expect(run({ hops: 1 }, { limits: { maxHops: 1 } })).rejects.toMatchObject({ code: 'delegation_too_deep' });
    expect(one.work).toHaveLength(0);
  });

  it('is not done when nobody agrees', async () => {
    const { partner, run } = await setting();
    await expect(run()).rejects.toMatchObject({ code: 'negotiation_failed', attempts: [] });
    await partner('one', done);
    await expect(run({ capability: 'code_review@^2' })).rejects.toMatchObject({
      code: 'negotiation_failed',
      attempts: [{ agent_id: 'one', outcome: 'declined' }],
    });
  });

  it('is worked on under an agreement that the partner insists on', async () => {
    const { partner, run } = await setting();
    await partner('one', done, { required: true });
    expect(await run()).toMatchObject({ agentId: 'one' });
  });
});

describe('while nobody has begun, the next one is asked', () => {
  it('after one that cannot be reached', async () => {
    const { partner, run } = await setting();
    const [one, two] = [await partner('one', done), await partner('two', done)];
    const nobody = `http://127.0.0.1:${String(await freePort())}`;
    const result = await run(
      {},
      {
        connect: ({ agentId, endpoint }, signal) => connectA2a({ url: agentId === 'one' ? nobody : endpoint, signal }),
      },
    );
    expect(result).toMatchObject({
      agentId: 'two',
      attempts: [{ agentId: 'one', outcome: 'unreachable (peer_unreachable)' }],
    });
    expect([one.work.length, two.work.length]).toEqual([0, 1]);
    await waitFor(async () => (await endOf(one)) === 'released_by_initiator');
  });

  it('after one that refuses the message', async () => {
    const { main, partner, run } = await setting();
    const [one] = [await partner('one', done), await partner('two', done)];
    let ended: string | undefined;
    const result = await run(
      {},
      {
        connect: async ({ agentId, endpoint }, signal) => {
          const [held] = main.agreements.list();
          held?.onEnd((reason) => (ended ??= reason));
          if (agentId === 'one') {
            // Without a word to the initiator: the refusal of the call is how it hears of it.
            await one.agent.keeper.end(held?.agreementId ?? '', { internal: true, reason: 'terms_withdrawn' });
          }
          return connectA2a({ url: endpoint, signal });
        },
      },
    );
    expect(result).toMatchObject({
      agentId: 'two',
      attempts: [{ agentId: 'one', outcome: 'declined (agreement_ended)' }],
    });
    expect(one.work).toHaveLength(0);
    expect(ended).toBe('terms_withdrawn');
  });

  it('after one that is gone without a word', async () => {
    const { partner, run } = await setting();
    const asked = Promise.withResolvers<undefined>();
    const silent = silentGate(() => {
      asked.resolve(undefined);
    });
    const one = await partner('one', done, { gate: silent });
    await partner('two', done);
    const wire = await wireTo(one.url);
    const direct = over(wire);
    const result = run(
      {},
      { connect: (to, at) => (to.agentId === 'one' ? direct(to, at) : connectA2a({ url: to.endpoint, signal: at })) },
    );
    await asked.promise;
    await wire.cut('gone');
    expect(await result).toMatchObject({
      agentId: 'two',
      attempts: [{ agentId: 'one', outcome: 'unreachable (peer_unreachable)' }],
    });
    expect(one.work).toHaveLength(0);
  });

  it('but nobody after one that is silent, and may have begun', async () => {
    const { partner, run } = await setting();
    await partner('one', done, { gate: silentGate() });
    const two = await partner('two', done);
    const connect: DelegateOptions['connect'] = async ({ endpoint }, signal) => {
      const connection = await connectA2a({ url: endpoint, signal });
      return Object.assign(Object.create(connection) as typeof connection, {
        stream: connection.stream.bind(connection),
        close: connection.close.bind(connection),
        listTasks: () => Promise.reject(new AppError('deadline_exceeded', 'late', { code: 'peer_timeout' })),
      });
    };
    const failed = run({}, { connect, limits: { firstAnswerMs: 500, settleMs: 400 } });
    await expect(failed).rejects.toMatchObject({
      code: 'delegate_failed',
      message: expect.stringContaining('not known') as string,
    });
    expect(two.work).toHaveLength(0);
  });

  it('but not more of them than may be asked', async () => {
    const { partner, run } = await setting();
    await partner('one', done);
    await partner('two', done);
    const connect = (): Promise<never> =>
      Promise.reject(new AppError('unavailable', 'no', { code: 'peer_unreachable' }));
    const failed = run({}, { connect, limits: { maxPartners: 1 } });
    await expect(failed).rejects.toMatchObject({
      code: 'negotiation_failed',
      attempts: [{ agent_id: 'one', outcome: 'unreachable' }],
    });
    await expect(run({}, { connect })).rejects.toMatchObject({
      code: 'negotiation_failed',
      attempts: [{ agent_id: 'one' }, { agent_id: 'two' }],
    });
  });
});
