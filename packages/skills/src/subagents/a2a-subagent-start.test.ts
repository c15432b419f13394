import { connectA2a, NegotiationFailed, type Accepted } from '@parley/agent';
import { AppError } from '@parley/service-kit';
import { freePort, waitFor } from '@parley/testkit';
import { done, endOf } from '../../../agent/src/a2a/delegate/delegation.test-helper.js';
import { A2aSubagentProvider } from './a2a-subagent-provider.js';
import { subject } from './a2a-subagent.test-helper.js';

describe('who is asked', () => {
  it('is nobody if nobody can do it: there is no child', async () => {
    const { start, listeners, main } = await subject();
    await expect(start()).rejects.toMatchObject({
      code: 'subagent_start_failed',
      message: expect.stringContaining('No agent offers') as string,
    });
    expect([listeners(), main.agreements.size]).toEqual([0, 0]);
  });

  it('is nobody if all refuse what is wanted', async () => {
    const { partner, start } = await subject({
      errand: { capability: 'code_review', parameters: { depth: 9 } },
    });
    const one = await partner('one', done);
    await expect(start()).rejects.toMatchObject({ code: 'subagent_start_failed' });
    expect(one.work).toEqual([]);
    expect(await one.agent.keeper.countLiving()).toBe(0);
  });

  it('is nobody if the registry cannot be asked', async () => {
    const { start } = await subject({ registryUrl: `http://127.0.0.1:${String(await freePort())}` });
    await expect(start()).rejects.toMatchObject({ code: 'subagent_start_failed' });
  });

  it('keeps to the candidates that are allowed', async () => {
    const { partner, start } = await subject({ candidates: { prefer: ['one'], exclude: ['one'] } });
    const [one, two] = [await partner('one', done), await partner('two', done)];
    expect(await (await start()).result).toMatchObject({ stopReason: 'completed' });
    expect([one.work.length, two.work.length]).toEqual([0, 1]);
  });

  it('is the next one after one that cannot be reached, and the first is let go', async () => {
    const nobody = `http://127.0.0.1:${String(await freePort())}`;
    const { partner, start } = await subject({
      connect: ({ agentId, endpoint }, signal) => connectA2a({ url: agentId === 'one' ? nobody : endpoint, signal }),
    });
    const [one, two] = [await partner('one', done), await partner('two', done)];
    const run = await start();
    expect(await run.result).toMatchObject({ stopReason: 'completed' });
    await run.dispose();
    expect([one.work.length, two.work.length]).toEqual([0, 1]);
    expect([await endOf(one), await endOf(two)]).toEqual(['released_by_initiator', 'completed']);
  });

  it('is nobody once all that agreed could not be reached', async () => {
    const refuse = () => Promise.reject(new AppError('unavailable', 'no', { code: 'peer_unreachable' }));
    const { partner, start, main, listeners } = await subject({ connect: refuse });
    const partners = [await partner('one', done), await partner('two', done)];
    await expect(start()).rejects.toMatchObject({ code: 'subagent_start_failed' });
    // No wait: a start that fails has cleaned up.
    expect(await Promise.all(partners.map(({ agent }) => agent.keeper.countLiving()))).toEqual([0, 0]);
    expect([main.agreements.size, listeners()]).toEqual([0, 0]);
  });
});

it('that did not start is told so only when the agent that had agreed knows that it is over', async () => {
  const order: string[] = [];
  const told = Promise.withResolvers<string>();
  const agreement = {
    agentId: 'one',
    agreementId: 'agr-1',
    endpoint: 'http://127.0.0.1:9',
    end: () => {
      order.push('ending');
      return told.promise;
    },
  };
  const answers = [{ agreement, attempts: [] }];
  const provider = new A2aSubagentProvider({
    agent: {
      negotiateFirst: () => {
        const next = answers.pop();
        if (next === undefined) return Promise.reject(new NegotiationFailed([], { retryable: false }));
        return Promise.resolve(next as unknown as Accepted);
      },
    },
    registryUrl: 'http://127.0.0.1:9',
    errand: { capability: 'code_review' },
    connect: () => Promise.reject(new AppError('unavailable', 'no', { code: 'peer_unreachable' })),
  });
  const { signal } = new AbortController();
  const starting = provider
    .start({ label: 'a', prompt: [{ type: 'text', text: 'look' }], parent: { agentId: 'p', depth: 0 }, signal })
    .catch(() => order.push('refused'));
  await waitFor(() => order.length > 0);
  await new Promise(setImmediate);
  order.push('told');
  told.resolve('released_by_initiator');
  await starting;
  expect(order.filter((what) => what !== 'ending')).toEqual(['told', 'refused']);
});
