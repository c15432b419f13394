import { connectA2a, type AgreementGate } from '@parley/agent';
import { AppError } from '@parley/service-kit';
import { waitFor } from '@parley/testkit';
import { done, endOf, over, silentGate } from '../../../agent/src/a2a/delegate/delegation.test-helper.js';
import { wireTo, type Wire } from '../../../agent/src/a2a/delegate/partners.test-helper.js';
import { endless, readAll, subject } from './a2a-subagent.test-helper.js';

describe('an agent that dies', () => {
  it('in the middle of the work fails the child in bounded time, and nobody else is asked', async () => {
    const { partner, start, main, listeners } = await subject({ limits: { settleMs: 400, cancelMs: 400 } });
    const { work, begun } = endless();
    const one = await partner('one', work);
    const two = await partner('two', done);
    const run = await start();
    const updates = readAll(run.updates);
    await begun;
    await one.kill();
    const result = await run.result;
    expect(result).toMatchObject({ stopReason: 'error', diagnostic: expect.stringContaining('not known') as string });
    expect(await updates).toContainEqual({ kind: 'text', text: 'reading' });
    await run.dispose();
    expect(two.work).toEqual([]);
    expect([main.agreements.size, listeners()]).toEqual([0, 0]);
  });

  it('before its first word, and may have begun, is a child that failed, not one that did not start', async () => {
    const asked = Promise.withResolvers<undefined>();
    const { partner, start, main } = await subject({
      limits: { firstAnswerMs: 300, settleMs: 300 },
      connect: async ({ endpoint }, signal) => {
        const connection = await connectA2a({ url: endpoint, signal });
        const late = () => Promise.reject(new AppError('deadline_exceeded', 'late', { code: 'peer_timeout' }));
        return Object.assign(Object.create(connection) as typeof connection, {
          stream: connection.stream.bind(connection),
          close: connection.close.bind(connection),
          listTasks: late,
        });
      },
    });
    const silent: () => AgreementGate = silentGate(() => {
      asked.resolve(undefined);
    });
    await partner('one', done, { gate: silent });
    const two = await partner('two', done);
    const run = await start();
    await asked.promise;
    expect(await run.result).toMatchObject({
      stopReason: 'error',
      diagnostic: expect.stringContaining('not known') as string,
    });
    await run.dispose();
    expect(two.work).toEqual([]);
    expect(main.agreements.size).toBe(0);
  });

  it('comes back after a broken wire to the same task', async () => {
    const laid = Promise.withResolvers<Wire>();
    const { partner, start } = await subject({
      connect: async (to, signal) => over(await laid.promise)(to, signal),
    });
    const go = Promise.withResolvers<undefined>();
    const one = await partner('one', async (_request, reporter) => {
      reporter.working('reading');
      await go.promise;
      return { state: 'completed', text: 'still here' };
    });
    const wire = await wireTo(one.url);
    laid.resolve(wire);
    const run = await start();
    const updates = readAll(run.updates);
    await wire.cut('stay');
    go.resolve(undefined);
    expect(await run.result).toEqual({ stopReason: 'completed', output: 'still here' });
    // What is told again is not said again.
    expect((await updates).filter((update) => update.kind === 'text' && update.text === 'reading')).toHaveLength(1);
    expect(one.work).toHaveLength(1);
  });

  it('does not hold up the end of its child for longer than it may', async () => {
    const { partner, start } = await subject({ limits: { settleMs: 300, cancelMs: 300 }, releaseMs: 200 });
    const { work } = endless();
    const one = await partner('one', work);
    const run = await start();
    await one.kill();
    const begun = performance.now();
    await run.dispose();
    expect(performance.now() - begun).toBeLessThan(2_500);
    expect((await run.result).stopReason).toBe('aborted');
  });
});

describe('a cancel', () => {
  it('before anybody was asked starts nothing', async () => {
    const { partner, start, controller, registry } = await subject();
    await partner('one', done);
    const asked = registry.requests.length;
    controller.abort(new Error('too late'));
    await expect(start()).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(registry.requests).toHaveLength(asked);
  });

  it('while an agreement is sought leaves none', async () => {
    const { partner, start, controller, registry, main, listeners } = await subject();
    const one = await partner('one', done);
    registry.intercept = ({ path }) => {
      if (path.startsWith('/discover')) controller.abort(new Error('changed my mind'));
      return undefined;
    };
    await expect(start()).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(one.work).toEqual([]);
    expect([await one.agent.keeper.countLiving(), main.agreements.size, listeners()]).toEqual([0, 0, 0]);
  });

  it('while the agent is being reached calls nobody and gives the agreement back', async () => {
    const reaching = { act: (): void => undefined };
    const { partner, start, controller, main, listeners } = await subject({
      connect: (_to, signal) => {
        reaching.act();
        return new Promise((_resolve, reject) => {
          const stop = (): void => reject(signal.reason as Error);
          if (signal.aborted) stop();
          else signal.addEventListener('abort', stop, { once: true });
        });
      },
    });
    reaching.act = () => {
      controller.abort(new Error('changed my mind'));
    };
    const one = await partner('one', done);
    const run = await start();
    expect(await run.result).toMatchObject({ stopReason: 'aborted' });
    await run.dispose();
    expect(one.work).toEqual([]);
    expect([await one.agent.keeper.countLiving(), main.agreements.size, listeners()]).toEqual([0, 0, 0]);
    expect(await endOf(one)).toBe('released_by_initiator');
  });

  it('before the first word of the agent ends the task that it may have begun', async () => {
    const { partner, start, controller, main, listeners } = await subject({ limits: { cancelMs: 600 } });
    const asked = Promise.withResolvers<undefined>();
    const one = await partner('one', done, {
      gate: silentGate(() => {
        asked.resolve(undefined);
      }),
    });
    const starting = start();
    await asked.promise;
    controller.abort(new Error('changed my mind'));
    const run = await starting;
    expect(await run.result).toMatchObject({ stopReason: 'aborted' });
    await run.dispose();
    expect(one.work).toEqual([]);
    expect([await one.agent.keeper.countLiving(), main.agreements.size, listeners()]).toEqual([0, 0, 0]);
  });

  it('while the agent works ends its task and the agreement, before dispose resolves', async () => {
    const { partner, start, main, listeners } = await subject();
    const { work, begun } = endless();
    const one = await partner('one', work);
    const run = await start();
    await begun;
    await run.dispose();
    expect(one.work[0]?.signal.aborted).toBe(true);
    expect([one.engine.running, await one.agent.keeper.countLiving(), main.agreements.size]).toEqual([0, 0, 0]);
    expect(await endOf(one)).toBe('released_by_initiator');
    expect(listeners()).toBe(0);
    expect(await run.result).toMatchObject({ stopReason: 'aborted' });
  });

  it('after the end changes nothing', async () => {
    const { partner, start } = await subject();
    const one = await partner('one', done);
    const run = await start();
    await run.result;
    run.cancel();
    await run.dispose();
    expect(await run.result).toEqual({ stopReason: 'completed', output: 'fine' });
    expect(await endOf(one)).toBe('completed');
  });
});

it('leaves no listener and no agreement behind after many children', async () => {
  const { partner, start, main, listeners } = await subject();
  const one = await partner('one', done);
  for (let n = 0; n < 20; n += 1) {
    const run = await start();
    await run.dispose();
  }
  expect([listeners(), main.agreements.size]).toEqual([0, 0]);
  await waitFor(async () => (await one.agent.keeper.countLiving()) === 0);
});
