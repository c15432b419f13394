import { jest } from '@jest/globals';
import type { SubagentResult } from '@parley/harness';
import { firstText, type MockAgents, request } from '../testing/mock-agents.js';
import type { MockScript } from '../testing/mock/script.mjs';
import { mocksOfEachTest } from '../testing/mocks-of-each-test.js';
import type { AcpSubagentOptions, AcpSubagentProvider } from './index.js';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(30_000);

const END = { answer: 'end_turn' };
const HI = { text: 'hi' };
const POOL = { size: 1, idleMs: 20_000 };
const SHORT_END = { closeMs: 100, termMs: 100 };

describe('warm children', () => {
  let agents: MockAgents;
  mocksOfEachTest((made) => (agents = made));

  function pooled(script: MockScript, more: Partial<AcpSubagentOptions> = {}): AcpSubagentProvider {
    return agents.provider(script, { pool: POOL, ...more });
  }

  async function complete(provider: AcpSubagentProvider): Promise<SubagentResult> {
    const run = await provider.start(request());
    const result = await run.result;
    await run.dispose();
    return result;
  }

  it('work for one run after the other, each in a session of its own', async () => {
    const provider = pooled({ prompts: [[{ say: 'pid' }, END]] });
    const outputs = [await complete(provider), await complete(provider), await complete(provider)];
    expect(new Set(outputs.map(({ output }) => output)).size).toBe(1);
    expect(agents.count('start')).toBe(1);
    expect(agents.methods().filter((method) => method === 'session/new')).toHaveLength(3);
    const prompts = agents.journal().filter(({ message }) => message?.method === 'session/prompt');
    expect(new Set(prompts.map(({ message }) => message?.params?.['sessionId'])).size).toBe(3);
  });

  it('are as many as the pool holds; the others end with their runs', async () => {
    const provider = pooled({ prompts: [[HI, { untilFile: 'go' }, END]] }, { pool: { size: 2, idleMs: 20_000 } });
    const runs = await Promise.all(Array.from({ length: 4 }, () => provider.start(request())));
    expect(agents.live()).toHaveLength(4);
    agents.touch('go');
    await Promise.all(runs.map(({ result }) => result));
    await Promise.all(runs.map((run) => run.dispose()));
    expect(agents.live()).toHaveLength(2);
  });

  it('end when they have waited too long', async () => {
    const provider = pooled({ prompts: [[HI, END]] }, { pool: { size: 1, idleMs: 150 } });
    await complete(provider);
    await agents.until(({ live }) => live.call(agents).length === 0);
    expect((await complete(provider)).stopReason).toBe('completed');
    expect(agents.count('start')).toBe(2);
  });

  it('that died between two runs are replaced, without the second run noticing', async () => {
    const provider = pooled({
      prompts: [
        [HI, END, { wait: 100 }, { exit: 3 }],
        [HI, END],
      ],
    });
    await complete(provider);
    await agents.until(({ live }) => live.call(agents).length === 0);
    expect((await complete(provider)).stopReason).toBe('completed');
    expect(agents.count('start')).toBe(2);
  });

  it('that die in the very moment when they are taken are replaced', async () => {
    const provider = pooled({ newSession: [{ dieAfter: 1 }, { result: {} }], prompts: [[HI, END]] });
    await complete(provider);
    expect((await complete(provider)).stopReason).toBe('completed');
    expect(agents.count('start')).toBe(2);
  });

  it('that do not answer session/new any more are replaced', async () => {
    const script = { newSession: [{ silentAfter: 1 }, { result: {} }], prompts: [[HI, END]] };
    const provider = pooled(script, { deadlines: { newSessionMs: 1_500, ...SHORT_END } });
    await complete(provider);
    const second = await complete(provider).catch((error: unknown) => error);
    // It may be told, too: then nothing of the child is left, and the next run has a new one.
    if (second instanceof Error) expect((await complete(provider)).stopReason).toBe('completed');
    expect(agents.count('start')).toBe(2);
  });

  it('are not kept after a turn that went wrong', async () => {
    const wrong = [
      [HI, { answer: 'max_turn_requests' }],
      [HI, { error: { code: -32603, message: 'no' } }],
    ];
    for (const steps of wrong) {
      const provider = pooled({ prompts: [steps] });
      expect((await complete(provider)).stopReason).toBe('error');
      expect(agents.live()).toEqual([]);
    }
  });

  it('are not kept after a cancel, and the next run is not hit by it', async () => {
    const provider = pooled({ prompts: [[HI, { untilCancel: true }, { answer: 'cancelled' }]] });
    for (let i = 0; i < 2; i += 1) {
      const run = await provider.start(request());
      await firstText(run);
      run.cancel();
      expect((await run.result).stopReason).toBe('aborted');
      await run.dispose();
      expect(agents.live()).toEqual([]);
    }
  });

  it('are not hit in their next run by a cancel of the one before', async () => {
    const provider = pooled({
      prompts: [
        [HI, END],
        [HI, { wait: 100 }, { text: ' again' }, END],
      ],
    });
    const first = await provider.start(request());
    await first.result;
    await first.dispose();
    const second = await provider.start(request());
    await firstText(second);
    first.cancel();
    await first.dispose();
    expect(await second.result).toMatchObject({ stopReason: 'completed', output: 'hi again' });
    await second.dispose();
    expect(agents.methods()).not.toContain('session/cancel');
    expect(agents.count('start')).toBe(1);
  });

  it('do not mix late words of a run into the next one', async () => {
    const late = { aside: [{ wait: 50 }, { text: ' too late' }] };
    const provider = pooled({
      prompts: [
        [{ text: 'one' }, late, END],
        [{ text: 'two' }, { wait: 100 }, END],
      ],
    });
    expect((await complete(provider)).output).toBe('one');
    expect((await complete(provider)).output).toBe('two');
    expect(agents.count('start')).toBe(1);
  });

  it('do not take a second answer to a prompt for that to the next one', async () => {
    const again = { aside: [{ wait: 50 }, { answer: 'refusal' }] };
    const provider = pooled({
      prompts: [
        [{ text: 'one' }, again, END],
        [{ text: 'two' }, { wait: 100 }, END],
      ],
    });
    expect((await complete(provider)).stopReason).toBe('completed');
    expect(await complete(provider)).toMatchObject({ stopReason: 'completed', output: 'two' });
  });

  it('that give the id of an earlier session again are not trusted with it', async () => {
    const provider = pooled({ newSession: [{ result: { sessionId: 'always-the-same' } }], prompts: [[HI, END]] });
    await complete(provider);
    const second = await complete(provider).catch((error: unknown) => error);
    if (second instanceof Error) expect((await complete(provider)).stopReason).toBe('completed');
    expect(agents.count('start')).toBe(2);
  });

  it('have their sessions closed, if they know how', async () => {
    const agentCapabilities = { sessionCapabilities: { close: {} } };
    const provider = pooled({
      initialize: [{ result: { protocolVersion: 1, agentCapabilities } }],
      closeSession: [{ result: {} }],
      prompts: [[HI, END]],
    });
    await complete(provider);
    await complete(provider);
    expect(agents.methods()).toEqual([
      'initialize',
      ...['session/new', 'session/prompt', 'session/close'],
      ...['session/new', 'session/prompt', 'session/close'],
    ]);
  });

  it('end with all that they started when the provider is closed', async () => {
    const fork = { fork: { setsid: true, trapTerm: true } };
    const provider = pooled({ prompts: [[fork, HI, END]], eof: [], stays: true }, { deadlines: SHORT_END });
    await complete(provider);
    expect(agents.live()).toHaveLength(2);
    await provider.close();
    expect(agents.live()).toEqual([]);
  });
});
