import { jest } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { tmpdir } from 'node:os';
import { methods, type RequestPermissionResponse } from '@agentclientprotocol/sdk';
import {
  Agent,
  type AgentRunResult,
  call,
  defineTool,
  emptyRunUsage,
  type RunOptions,
  say,
  ScriptedModel,
  type ScriptedStep,
  type ToolHandler,
  toolHandler,
} from '@parley/harness';
import { ClientLab, closeLabs, RawLab } from './agent-lab.test-helper.js';

// A loaded machine takes its time.
jest.setTimeout(30_000);

afterEach(closeLabs);

/** Never answers by itself. */
function silent(): { readonly step: ScriptedStep; readonly asked: Promise<void> } {
  const asked = Promise.withResolvers<undefined>();
  return {
    asked: asked.promise,
    step: () => {
      asked.resolve(undefined);
      return new Promise(() => undefined);
    },
  };
}

/** A tool that ends only when it is told to. */
function waiting() {
  const started = Promise.withResolvers<undefined>();
  const ended = Promise.withResolvers<undefined>();
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    run: async (_args, { signal }) => {
      started.resolve(undefined);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      ended.resolve(undefined);
      signal.throwIfAborted();
    },
  });
  return { started: started.promise, ended: ended.promise, handler: toolHandler(wait) };
}

describe('session/cancel', () => {
  it('in the same write as the prompt keeps the run from beginning', async () => {
    const model = new ScriptedModel([say('too late')]);
    const lab = new RawLab({ model });
    const sessionId = await lab.begin();
    lab.write(
      { id: 'p', method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: 'go' }] } },
      { method: 'session/cancel', params: { sessionId } },
    );
    expect((await lab.answerTo('p')).result).toEqual({ stopReason: 'cancelled' });
    expect(model.requests).toHaveLength(0);
  });

  it('while resources start ends the start', async () => {
    const starting = Promise.withResolvers<AbortSignal>();
    const handler: ToolHandler = {
      tools: [],
      start: async (signal) => {
        starting.resolve(signal);
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        });
      },
      call: () => Promise.resolve(''),
    };
    const lab = new ClientLab({ steps: [[say('no')]], handlers: () => [handler] });
    const id = await lab.newSession();
    const answer = lab.prompt(id, 'go');
    await starting.promise;
    await lab.cancel(id);
    expect(await answer).toEqual({ stopReason: 'cancelled' });
  });

  it('ends a request to the model', async () => {
    const { step, asked } = silent();
    const lab = new ClientLab({ steps: [[step]] });
    const id = await lab.newSession();
    const answer = lab.prompt(id, 'go');
    await asked;
    await lab.cancel(id);
    expect(await answer).toEqual({ stopReason: 'cancelled' });
  });

  it('ends a tool, whose call is told as failed before the answer', async () => {
    const { started, ended, handler } = waiting();
    const lab = new ClientLab({ steps: [[say(null, call('c1', 'wait')), say('no')]], handlers: () => [handler] });
    const id = await lab.newSession();
    const answer = lab.prompt(id, 'go');
    await started;
    await lab.cancel(id);
    expect(await answer).toEqual({ stopReason: 'cancelled' });
    await ended;
    expect(lab.updatesOf('tool_call_update').at(-1)).toMatchObject({ toolCallId: 'c1', status: 'failed' });
  });

  it.each<[string, () => Promise<RequestPermissionResponse>]>([
    [
      'answers late',
      () => new Promise((resolve) => setImmediate(() => resolve({ outcome: { outcome: 'cancelled' } }))),
    ],
    ['never answers', () => new Promise(() => undefined)],
    ['still says yes', () => Promise.resolve({ outcome: { outcome: 'selected', optionId: 'allow_once' } })],
  ])('while a permission is open ends the turn, although the client %s', async (_name, onPermission) => {
    const ran: string[] = [];
    const act = defineTool({ name: 'act', description: 'Acts.', run: (_args, { callId }) => void ran.push(callId) });
    const answered = Promise.withResolvers<undefined>();
    let asked = 0;
    const lab = new ClientLab({
      steps: [[say(null, call('c1', 'act')), say(null, call('c2', 'act')), say('done')]],
      asks: true,
      handlers: () => [toolHandler(act)],
      onPermission: async () => {
        asked += 1;
        if (asked > 1) return { outcome: { outcome: 'selected', optionId: 'allow_once' } };
        await answered.promise;
        return onPermission();
      },
    });
    const id = await lab.newSession();
    const answer = lab.prompt(id, 'go');
    await lab.until(() => lab.permissions.length > 0);
    await lab.cancel(id);
    answered.resolve(undefined);
    expect(await answer).toEqual({ stopReason: 'cancelled' });
    expect(ran).toEqual([]);
    // The next question does not wait for the answer to the one before, nor takes it for its own.
    expect(await lab.prompt(id, 'again')).toEqual({ stopReason: 'end_turn' });
    expect(ran).toEqual(['c2']);
  });

  it('does nothing to the prompt after it', async () => {
    const lab = new ClientLab({ steps: [[say('one'), say('two')]] });
    const id = await lab.newSession();
    await lab.prompt(id, 'one');
    await lab.cancel(id);
    expect(await lab.prompt(id, 'two')).toEqual({ stopReason: 'end_turn' });
  });

  it('of an unknown session is nothing', async () => {
    const lab = new ClientLab({ steps: [[say('one')]] });
    const id = await lab.newSession();
    await lab.cancel('nobody');
    expect(await lab.prompt(id, 'one')).toEqual({ stopReason: 'end_turn' });
  });

  it('stops one session and leaves the others', async () => {
    const { step, asked } = silent();
    const other = Promise.withResolvers<ScriptedStep>();
    const lab = new ClientLab({ steps: [[step], [() => other.promise]] });
    const one = await lab.newSession();
    const two = await lab.newSession();
    const first = lab.prompt(one, 'go');
    const second = lab.prompt(two, 'go');
    await asked;
    await lab.cancel(one);
    expect(await first).toEqual({ stopReason: 'cancelled' });
    other.resolve(say('fine'));
    expect(await second).toEqual({ stopReason: 'end_turn' });
  });

  it.each<[string, () => Promise<ScriptedStep>]>([
    ['ends well all the same', () => Promise.resolve(say('done'))],
    ['fails', () => Promise.reject(new Error('broken'))],
  ])('is the answer also where the run %s', async (_name, end) => {
    const running = Promise.withResolvers<undefined>();
    const deaf = async (_task: string, { signal }: RunOptions = {}): Promise<AgentRunResult> => {
      running.resolve(undefined);
      await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
      await end();
      const usage = emptyRunUsage();
      return { runId: '1', status: 'completed', stopReason: 'text_response', output: '', turns: 1, usage, error: null };
    };
    const lab = new ClientLab({ makeAgent: () => Object.assign(new Agent(new ScriptedModel()), { run: deaf }) });
    await lab.initialize();
    const { sessionId } = await lab.agent.request(methods.agent.session.new, { cwd: tmpdir(), mcpServers: [] });
    const answer = lab.prompt(sessionId, 'go');
    await running.promise;
    await lab.cancel(sessionId);
    expect(await answer).toEqual({ stopReason: 'cancelled' });
  });

  it('keeps what was said before, for the next prompt', async () => {
    const { started, handler } = waiting();
    const model = new ScriptedModel([say('I wait', call('c1', 'wait')), say('ok')]);
    const lab = new ClientLab({ model, handlers: () => [handler] });
    const id = await lab.newSession();
    const answer = lab.prompt(id, 'first');
    await started;
    await lab.cancel(id);
    await answer;
    expect(await lab.prompt(id, 'second')).toEqual({ stopReason: 'end_turn' });
    const roles = model.requests
      .at(-1)
      ?.messages.map(({ role }) => role)
      .filter((role) => role !== 'system');
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user']);
  });
});

describe('$/cancel_request', () => {
  it('of a prompt cancels it', async () => {
    const { step, asked } = silent();
    const lab = new RawLab({ steps: [[step]] });
    const sessionId = await lab.begin();
    lab.write({ id: 'p', method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: 'go' }] } });
    await asked;
    lab.write({ method: '$/cancel_request', params: { requestId: 'p' } });
    expect((await lab.answerTo('p')).result).toEqual({ stopReason: 'cancelled' });
  });
});

describe('after many prompts', () => {
  it('no listener and no open request is left', async () => {
    const act = defineTool({ name: 'act', description: 'Acts.', run: () => 'done' });
    const signals = new Set<AbortSignal>();
    const lab = new ClientLab({
      model: new ScriptedModel([], {
        whenExhausted: (request, signal) => {
          signals.add(signal);
          return request.messages.at(-1)?.role === 'tool' ? say('ok') : say(null, call(`c${signals.size}`, 'act'));
        },
      }),
      asks: true,
      handlers: () => [toolHandler(act)],
      onPermission: () => Promise.resolve({ outcome: { outcome: 'selected', optionId: 'allow_once' } }),
    });
    const id = await lab.newSession();
    for (let count = 0; count < 30; count++) await lab.prompt(id, `go ${count}`);
    expect(lab.permissions).toHaveLength(30);
    for (const signal of signals) expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(await lab.agent.request(methods.agent.session.close, { sessionId: id })).toEqual({});
  });
});
