import { getEventListeners } from 'node:events';
import { collect } from './collect.test-helper.js';
import type { ModelRequest, ModelStreamEvent } from './model-adapter.js';
import { ModelProviderError, ModelRateLimitError } from './model-errors.js';
import { call, say, sayWith, ScriptedModel, usageOf } from './scripted-model.js';

const request: ModelRequest = { messages: [{ role: 'user', content: 'hi' }], tools: [] };

async function ask(model: ScriptedModel, signal = new AbortController().signal): Promise<readonly ModelStreamEvent[]> {
  return collect(model.stream(request, signal));
}

describe('ScriptedModel', () => {
  it('gives one step for each request and keeps the requests', async () => {
    const model = new ScriptedModel([say('one'), say(null, call('c1', 'add', { a: 1 }))], { name: 'tests' });
    expect(model.name).toBe('tests');
    expect(await ask(model)).toEqual([{ type: 'completed', response: say('one') }]);
    expect(await ask(model)).toMatchObject([
      {
        response: {
          message: { content: null, toolCalls: [{ id: 'c1', name: 'add', arguments: '{"a":1}' }] },
          finishReason: 'tool_calls',
        },
      },
    ]);
    expect(model.requests).toEqual([request, request]);
  });

  it('fails when no step is left, unless it knows what to do then', async () => {
    await expect(ask(new ScriptedModel())).rejects.toThrow(ModelProviderError);
    const endless = new ScriptedModel([say('one')], { whenExhausted: say('again') });
    await ask(endless);
    await ask(endless);
    expect(await ask(endless)).toEqual([{ type: 'completed', response: say('again') }]);
  });

  it('gives events in order and throws an error at its place', async () => {
    const model = new ScriptedModel([[{ type: 'text_delta', delta: 'a' }, new ModelRateLimitError('slow')]]);
    const seen: ModelStreamEvent[] = [];
    const reading = async (): Promise<void> => {
      for await (const event of model.stream(request, new AbortController().signal)) seen.push(event);
    };
    await expect(reading()).rejects.toThrow(ModelRateLimitError);
    expect(seen).toEqual([{ type: 'text_delta', delta: 'a' }]);
  });

  it('throws an error that is a step', async () => {
    await expect(ask(new ScriptedModel([new RangeError('odd')]))).rejects.toThrow(RangeError);
  });

  it('makes a step of the request that comes', async () => {
    const model = new ScriptedModel([async ({ messages }) => say(`${messages.length} message`)]);
    expect(await ask(model)).toMatchObject([{ response: { message: { content: '1 message' } } }]);
  });

  it('leaves no listener behind when a step comes', async () => {
    const { signal } = new AbortController();
    await ask(new ScriptedModel([async () => say('one')]), signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('stops waiting for a step when it is aborted, and leaves no listener', async () => {
    const controller = new AbortController();
    const model = new ScriptedModel([() => new Promise(() => undefined)]);
    const asking = ask(model, controller.signal);
    controller.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('stops between two events when it is aborted', async () => {
    const controller = new AbortController();
    const model = new ScriptedModel([
      [
        { type: 'text_delta', delta: 'a' },
        { type: 'text_delta', delta: 'b' },
      ],
    ]);
    const events = model.stream(request, controller.signal);
    await events.next();
    controller.abort('enough');
    await expect(events.next()).rejects.toMatchObject({ name: 'AbortError', message: 'enough' });
  });

  it('does not begin when it is aborted already', async () => {
    await expect(ask(new ScriptedModel([say('one')]), AbortSignal.abort(new Error('enough')))).rejects.toThrow(
      'enough',
    );
  });
});

describe('say', () => {
  it('makes a response of ten tokens', () => {
    expect(say('hi')).toEqual({
      message: { role: 'assistant', content: 'hi', toolCalls: [], usage: usageOf(9, 1) },
      usage: usageOf(9, 1),
      finishReason: 'stop',
    });
  });

  it('takes what is to be otherwise', () => {
    expect(sayWith({ usage: null, finishReason: 'length', reasoning: 'hm' }, 'hi')).toEqual({
      message: { role: 'assistant', content: 'hi', toolCalls: [], reasoning: 'hm', usage: null },
      usage: null,
      finishReason: 'length',
    });
  });

  it('passes broken arguments as they are', () => {
    expect(call('c', 'go', '{"a"').arguments).toBe('{"a"');
  });
});
