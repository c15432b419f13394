import { getEventListeners } from 'node:events';
import { connectA2a, NegotiationFailed, type Accepted, type AgreementGate } from '@parley/agent';
import type { SubagentRequest, SubagentUpdate } from '@parley/harness';
import { AppError } from '@parley/service-kit';
import { freePort, waitFor } from '@parley/testkit';
import { done, endOf, over, setting, silentGate } from '../../../agent/src/a2a/delegate/delegation.test-helper.js';
import { untilAborted, wireTo, type Wire, type Work } from '../../../agent/src/a2a/delegate/partners.test-helper.js';
import type { A2aSubagentOptions } from './a2a-subagent-options.js';
import { A2aSubagentProvider } from './a2a-subagent-provider.js';

const SCHEMA = { type: 'object', properties: { faults: { type: 'integer' } }, required: ['faults'] } as const;

/** A subject with `one` asked before all others, and a request that can be aborted. */
async function subject(options: Partial<A2aSubagentOptions> = {}) {
  const { main, registry, partner } = await setting();
  const controller = new AbortController();
  const provider = new A2aSubagentProvider({
    agent: main,
    registryUrl: registry.url,
    errand: { capability: 'code_review@^1' },
    candidates: { prefer: ['one'] },
    releaseMs: 500,
    ...options,
  });
  const start = (more: Partial<SubagentRequest> = {}) =>
    provider.start({
      label: 'a task',
      prompt: [{ type: 'text', text: 'look' }],
      parent: { agentId: 'parent', depth: 0 },
      signal: controller.signal,
      ...more,
    });
  const listeners = () => getEventListeners(controller.signal, 'abort').length;
  return { main, registry, partner, controller, provider, start, listeners };
}

async function readAll(updates: AsyncIterable<SubagentUpdate>): Promise<SubagentUpdate[]> {
  const all: SubagentUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

/** Work that goes on until it is stopped, and says when it has begun. */
function endless() {
  const begun = Promise.withResolvers<undefined>();
  const work: Work = ({ signal }, reporter) => {
    reporter.working('reading');
    begun.resolve(undefined);
    return untilAborted(signal);
  };
  return { work, begun: begun.promise };
}

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
