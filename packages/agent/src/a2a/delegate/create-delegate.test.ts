import { getEventListeners } from 'node:events';
import { AppError } from '@parley/service-kit';
import { freePort, onTestsEnd, waitFor } from '@parley/testkit';
import { FakeRegistry } from '../../../test-support/fake-registry.js';
import { Agent } from '../../agent/index.js';
import type { AgreementGate } from '../agreement/index.js';
import { connectA2a } from '../client/index.js';
import { createDelegate, type DelegateOptions } from './create-delegate.js';
import type { DelegateRequest } from './delegate.js';
import {
  startPartner,
  untilAborted,
  wireTo,
  type Partner,
  type PartnerOptions,
  type Wire,
  type Work,
} from './partners.test-helper.js';

const done: Work = (_request, reporter) => {
  reporter.working('reading');
  reporter.artifact({ artifactId: 'r', name: 'review', parts: [{ kind: 'text', text: 'fine' }] });
  return { state: 'completed', text: 'done' };
};

interface Setting {
  readonly main: Agent;
  readonly registry: FakeRegistry;
  partner(agentId: string, work: Work, options?: Partial<PartnerOptions>): Promise<Partner>;
  /** Delegates with `first` asked before all others. */
  run(
    request?: Partial<DelegateRequest>,
    options?: Partial<DelegateOptions>,
  ): ReturnType<ReturnType<typeof createDelegate>>;
}

async function setting(first = 'one'): Promise<Setting> {
  const registry = await new FakeRegistry().start();
  onTestsEnd(() => registry.stop());
  const main = new Agent({
    manifest: { agentId: 'main', endpoint: 'http://127.0.0.1:1', capabilities: ['code_review'] },
  });
  onTestsEnd(() => main.stop());
  const negotiateFirst: Agent['negotiateFirst'] = (url, names, wanted, options) =>
    main.negotiateFirst(url, names, wanted, { ...options, prefer: [first] });
  return {
    main,
    registry,
    partner: (agentId, work, options = {}) => startPartner(agentId, { work, registryUrl: registry.url, ...options }),
    run: (request = {}, options = {}) =>
      createDelegate({ agent: { negotiateFirst }, registryUrl: registry.url, ...options })({
        capability: 'code_review@^1',
        parts: [{ kind: 'text', text: 'look' }],
        parameters: {},
        hops: 0,
        signal: new AbortController().signal,
        ...request,
      }),
  };
}

/** Speaks with an agent over a wire that can be cut. */
function over(wire: Wire): Required<DelegateOptions>['connect'] {
  return async ({ endpoint }, signal) => {
    const direct = await connectA2a({ url: endpoint, signal });
    await direct.close();
    const supportedInterfaces = direct.card.supportedInterfaces
      .filter(({ protocolBinding, protocolVersion }) => protocolBinding === 'JSONRPC' && protocolVersion === '1.0')
      .map((one) => ({ ...one, url: one.url.replace(new URL(one.url).origin, wire.url) }));
    return connectA2a({ card: { ...direct.card, supportedInterfaces }, signal });
  };
}

const endOf = async ({ agent }: Partner): Promise<string | undefined> => {
  const { agreements } = await agent.keeper.list({});
  return agreements[0]?.end_reason;
};

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

/** Says neither yes nor no, until the tests are over. */
function silentGate(onAdmit: () => void = () => undefined): () => AgreementGate {
  const over = Promise.withResolvers<never>();
  onTestsEnd(() => {
    over.reject(new AppError('unavailable', 'The test is over.'));
  });
  over.promise.catch(() => undefined);
  return () => ({
    admit: () => {
      onAdmit();
      return over.promise;
    },
  });
}

/** Lets the first word of a stream get lost, together with the connection. */
async function* swallowFirst<T>(updates: AsyncIterable<T>, wire: Wire): AsyncGenerator<T> {
  for await (const update of updates) {
    if (update === undefined) yield update;
    await wire.cut('stay');
    throw new AppError('unavailable', 'The peer cannot be reached.', { code: 'peer_unreachable' });
  }
}
