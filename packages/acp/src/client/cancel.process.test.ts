import { jest } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { allUpdates, firstText, MockAgents, request } from '../testing/mock-agents.js';
import { expectCleanEnd } from '../testing/mocks-of-each-test.js';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(30_000);

const END = { answer: 'end_turn' };
const HANGS = { prompts: [[{ text: 'hi' }, { untilCancel: true }, { answer: 'cancelled' }]] };
const NEVER = [{ never: true }];

describe('cancelling a child', () => {
  let agents: MockAgents;
  let controller: AbortController;

  beforeEach(() => {
    agents = new MockAgents();
    controller = new AbortController();
  });

  afterEach(async () => {
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await expectCleanEnd(agents);
  });

  it('before its start starts no program', async () => {
    controller.abort();
    await expect(agents.start({}, {}, controller.signal)).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(agents.journal()).toEqual([]);
  });

  it('in the same moment as its start leaves no program', async () => {
    const starting = agents.start({}, {}, controller.signal);
    controller.abort();
    await expect(starting).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(agents.live()).toEqual([]);
    expect(agents.methods()).not.toContain('session/prompt');
  });

  it('in initialize opens no session', async () => {
    const starting = agents.start({ initialize: NEVER }, {}, controller.signal);
    await agents.got('initialize');
    controller.abort();
    await expect(starting).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(agents.live()).toEqual([]);
    expect(agents.methods()).toEqual(['initialize']);
  });

  it('in initialize, which is answered after that, opens no session', async () => {
    const initialize = [{ wait: 200 }, { result: { protocolVersion: 1, agentCapabilities: {} } }];
    const starting = agents.start({ initialize }, {}, controller.signal);
    await agents.got('initialize');
    controller.abort();
    await expect(starting).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(agents.methods()).toEqual(['initialize']);
  });

  it('in session/new never sends the prompt, also when the session is opened after that', async () => {
    const script = {
      newSession: [{ wait: 200 }, { result: {} }, { note: 'opened' }],
      eof: [{ wait: 400 }, { exit: 0 }],
    };
    const starting = agents.start(script, { deadlines: { closeMs: 5_000 } }, controller.signal);
    await agents.got('session/new');
    controller.abort();
    await expect(starting).rejects.toMatchObject({ code: 'subagent_cancelled' });
    expect(agents.live()).toEqual([]);
    expect(agents.journal()).toContainEqual(expect.objectContaining({ note: 'opened' }));
    expect(agents.methods()).toEqual(['initialize', 'session/new']);
  });

  it('in the prompt tells the child once, however often it is asked', async () => {
    const run = await agents.start(HANGS, {}, controller.signal);
    await firstText(run);
    run.cancel();
    run.cancel('again');
    controller.abort();
    void run.dispose();
    expect(await run.result).toMatchObject({ stopReason: 'aborted', output: 'hi' });
    await run.dispose();
    expect(agents.methods().filter((method) => method === 'session/cancel')).toHaveLength(1);
  });

  it('right after the start, before the child says anything, is not lost', async () => {
    const run = await agents.start(HANGS, {}, controller.signal);
    run.cancel();
    expect((await run.result).stopReason).toBe('aborted');
    await run.dispose();
    expect(agents.methods().filter((method) => method === 'session/cancel').length).toBeLessThanOrEqual(1);
  });

  it('after the end tells the child nothing', async () => {
    const run = await agents.start({ prompts: [[{ text: 'hi' }, END]] }, {}, controller.signal);
    await run.result;
    run.cancel();
    controller.abort();
    expect((await run.result).stopReason).toBe('completed');
    await run.dispose();
    expect(agents.methods()).not.toContain('session/cancel');
  });

  it('waits for the last words of the child, but not for ever', async () => {
    const speaks = [{ repeat: 1_000, steps: [{ text: '!' }, { wait: 10 }] }];
    const run = await agents.start({ prompts: [speaks] }, { deadlines: { cancelGraceMs: 300 } });
    await firstText(run);
    const begun = performance.now();
    run.cancel();
    const { stopReason, output } = await run.result;
    expect(stopReason).toBe('aborted');
    expect(output).toMatch(/^!+$/u);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(250);
    expect(performance.now() - begun).toBeLessThan(5_000);
    await run.dispose();
  });

  it.each([
    ['answers', HANGS],
    ['dies', { prompts: [[{ text: 'hi' }, ...NEVER]], cancel: [{ exit: 3 }] }],
  ])('does not wait out its grace when the child %s', async (_how, script) => {
    const run = await agents.start(script, { deadlines: { cancelGraceMs: 20_000 } });
    await firstText(run);
    const begun = performance.now();
    run.cancel();
    expect((await run.result).stopReason).toBe('aborted');
    expect(performance.now() - begun).toBeLessThan(5_000);
    await run.dispose();
  });

  it('ends the updates', async () => {
    const run = await agents.start(HANGS);
    const updates = allUpdates(run);
    await agents.got('session/prompt');
    run.cancel();
    expect((await updates).every(({ kind }) => kind === 'text')).toBe(true);
    await run.dispose();
  });

  it('ends the child with all that it started before dispose resolves', async () => {
    const fork = { fork: { setsid: true, trapTerm: true } };
    const script = {
      prompts: [[fork, { fork: { trapTerm: true } }, { text: 'hi' }, { never: true }]],
      term: [],
      eof: [],
      stays: true,
    };
    const run = await agents.start(script, { deadlines: { cancelGraceMs: 100, closeMs: 100, termMs: 100 } });
    await firstText(run);
    expect(agents.live()).toHaveLength(3);
    await run.dispose();
    expect(agents.live()).toEqual([]);
    expect((await run.result).stopReason).toBe('aborted');
  });
});

describe('ending a child', () => {
  let agents: MockAgents;

  beforeEach(() => {
    agents = new MockAgents();
  });

  afterEach(async () => {
    expect(await agents.close()).toEqual([]);
  });

  async function complete(script: object, deadlines: object): Promise<number> {
    const run = await agents.start({ prompts: [[{ text: 'hi' }, END]], ...script }, { deadlines });
    expect((await run.result).stopReason).toBe('completed');
    const begun = performance.now();
    await run.dispose();
    expect(agents.live()).toEqual([]);
    return performance.now() - begun;
  }

  it('lets a good child go by itself when its input ends', async () => {
    const ms = await complete({ eof: [{ wait: 100 }, { note: 'bye' }, { exit: 0 }], term: [] }, { closeMs: 10_000 });
    expect(agents.journal()).toContainEqual(expect.objectContaining({ note: 'bye' }));
    expect(agents.count('term')).toBe(0);
    expect(ms).toBeLessThan(5_000);
  });

  it('asks one that ignores that to terminate, and lets it clean up', async () => {
    const term = [{ wait: 100 }, { note: 'cleaned up' }, { exit: 0 }];
    const ms = await complete({ eof: [], stays: true, term }, { closeMs: 100, termMs: 10_000 });
    expect(agents.count('eof')).toBe(1);
    expect(agents.journal()).toContainEqual(expect.objectContaining({ note: 'cleaned up' }));
    expect(ms).toBeLessThan(5_000);
  });

  it('kills one that ignores that too', async () => {
    const ms = await complete({ eof: [], stays: true, term: [] }, { closeMs: 100, termMs: 100 });
    expect(agents.count('term')).toBe(1);
    expect(agents.count('exit')).toBe(0);
    expect(ms).toBeGreaterThanOrEqual(150);
  });

  it('of a child that was too slow comes before its result is told', async () => {
    const script = {
      prompts: [[{ fork: { trapTerm: true } }, { text: 'hi' }, { never: true }]],
      eof: [],
      term: [],
      stays: true,
    };
    const run = await agents.start(script, {
      deadlines: { idleMs: 300, cancelGraceMs: 100, closeMs: 100, termMs: 100 },
    });
    expect(await run.result).toMatchObject({ stopReason: 'error', output: 'hi' });
    expect(agents.live()).toEqual([]);
    await run.dispose();
  });

  it('of all children comes with that of the provider', async () => {
    const provider = agents.provider(HANGS);
    const runs = await Promise.all([provider.start(request()), provider.start(request())]);
    await Promise.all(runs.map(firstText));
    expect(agents.live()).toHaveLength(2);
    await provider.close();
    expect(agents.live()).toEqual([]);
    expect((await Promise.all(runs.map(({ result }) => result))).map(({ stopReason }) => stopReason)).toEqual([
      'aborted',
      'aborted',
    ]);
    await expect(provider.start(request())).rejects.toThrow();
    await provider.close();
  });

  it('that starts while the provider is closed leaves nothing', async () => {
    const provider = agents.provider({ initialize: NEVER });
    const starting = provider.start(request());
    await agents.got('initialize');
    const closed = provider.close();
    await expect(starting).rejects.toThrow();
    await closed;
    expect(agents.live()).toEqual([]);
  });
});
