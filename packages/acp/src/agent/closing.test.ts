import { jest } from '@jest/globals';
import { call, defineTool, say, ScriptedModel, toolHandler } from '@parley/harness';
import { ClientLab, closeLabs, RawLab } from './agent-lab.test-helper.js';

// A loaded machine takes its time.
jest.setTimeout(30_000);

afterEach(closeLabs);

function waiting(endsWithin: (signal: AbortSignal) => Promise<unknown>) {
  const started = Promise.withResolvers<undefined>();
  const state = { ended: false };
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    run: async (_args, { signal }) => {
      started.resolve(undefined);
      await endsWithin(signal);
      state.ended = true;
    },
  });
  return { started: started.promise, state, handler: toolHandler(wait) };
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));

const steps = [[say(null, call('c1', 'wait')), say('no')]];
const prompt = (sessionId: string) => ({
  id: 'p',
  method: 'session/prompt',
  params: { sessionId, prompt: [{ type: 'text', text: 'go' }] },
});

describe('the end of the input', () => {
  it('cancels open prompts, ends agents, answers, and then closes', async () => {
    const { started, state, handler } = waiting(aborted);
    let stopped = 0;
    const lab = new RawLab({
      steps,
      handlers: () => [
        handler,
        { tools: [], call: () => Promise.resolve(''), stop: () => Promise.resolve(void (stopped += 1)) },
      ],
    });
    lab.write(prompt(await lab.begin()));
    await started;
    lab.toAgent.end();
    await lab.server.closed;
    expect(state.ended).toBe(true);
    expect(stopped).toBe(1);
    expect(lab.messages.at(-1)).toMatchObject({ id: 'p', result: { stopReason: 'cancelled' } });
  });

  it('right behind a request does not take its answer away', async () => {
    const lab = new RawLab();
    lab.toAgent.end(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } })}\n`,
    );
    expect((await lab.answerTo(1)).result).toMatchObject({ protocolVersion: 1 });
    await lab.server.closed;
  });

  it('ends also when the input breaks', async () => {
    const { started, state, handler } = waiting(aborted);
    const lab = new RawLab({ steps, handlers: () => [handler] });
    lab.write(prompt(await lab.begin()));
    await started;
    lab.toAgent.destroy(new Error('broken'));
    await lab.server.closed;
    expect(state.ended).toBe(true);
  });

  it('ends although a tool does not, when the time is over', async () => {
    const end = Promise.withResolvers<undefined>();
    const { started, handler } = waiting(() => end.promise);
    const warnings: string[] = [];
    const lab = new RawLab({
      steps,
      closeMs: 50,
      handlers: () => [handler],
      logger: { warn: (message) => void warnings.push(message) },
    });
    lab.write(prompt(await lab.begin()));
    await started;
    lab.toAgent.end();
    await lab.server.closed;
    expect(warnings.join()).toContain('did not end in time');
    end.resolve(undefined);
  });

  it('ends although the client neither reads nor goes', async () => {
    const text = 'x'.repeat(100_000);
    const deltas = Array.from({ length: 20 }, () => ({ type: 'text_delta' as const, delta: text }));
    const warnings: string[] = [];
    const lab = new RawLab({
      steps: [[[...deltas, { type: 'completed', response: say(text.repeat(20)) }]]],
      logger: { warn: (message) => void warnings.push(message) },
    });
    const sessionId = await lab.begin();
    lab.fromAgent.pause();
    lab.write(prompt(sessionId));
    lab.toAgent.end();
    await lab.server.closed;
    expect(lab.messages.some(({ id }) => id === 'p')).toBe(false);
    // Nothing but the writing held it up.
    expect(warnings).toEqual([]);
  }, 15_000);
});

describe('the end of the output', () => {
  it('ends everything, quietly', async () => {
    const { started, state, handler } = waiting(aborted);
    const warnings: string[] = [];
    const lab = new RawLab({
      steps,
      handlers: () => [handler],
      logger: { warn: (message) => void warnings.push(message) },
    });
    lab.write(prompt(await lab.begin()));
    await started;
    lab.fromAgent.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await lab.server.closed;
    expect(state.ended).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('ends a turn that waits for a permission', async () => {
    const asked = Promise.withResolvers<undefined>();
    const act = defineTool({ name: 'act', description: 'Acts.', run: () => 'done' });
    const lab = new ClientLab({
      steps: [[say(null, call('c1', 'act')), say('no')]],
      asks: true,
      handlers: () => [toolHandler(act)],
      onPermission: () => {
        asked.resolve(undefined);
        return new Promise(() => undefined);
      },
    });
    const answer = lab.prompt(await lab.newSession(), 'go');
    answer.catch(() => undefined);
    await asked.promise;
    lab.toAgent.end();
    await lab.server.closed;
    expect(lab.updatesOf('tool_call_update').at(-1)?.status).toBe('failed');
  });
});

describe('close', () => {
  it('cancels, answers and ends, once', async () => {
    const { started, state, handler } = waiting(aborted);
    const lab = new RawLab({ steps, handlers: () => [handler] });
    lab.write(prompt(await lab.begin()));
    await started;
    const ends = [lab.server.close(), lab.server.close()];
    await Promise.all(ends);
    await lab.server.closed;
    expect(state.ended).toBe(true);
    expect(lab.messages.at(-1)).toMatchObject({ id: 'p', result: { stopReason: 'cancelled' } });
  });

  it('opens nothing more', async () => {
    const model = new ScriptedModel([say('no')]);
    const making = Promise.withResolvers<undefined>();
    const lab = new RawLab({ model });
    const sessionId = await lab.begin();
    const closing = lab.server.close();
    lab.write(prompt(sessionId));
    making.resolve(undefined);
    await closing;
    expect(model.requests).toHaveLength(0);
  });
});
