import { getEventListeners } from 'node:events';
import type { ModelRequest, ModelStreamEvent } from '../model/model-adapter.js';
import { call, say, sayWith, ScriptedModel, type ScriptedStep } from '../model/scripted-model.js';
import { CompactionRunner } from './compaction-runner.js';
import type { CompactionRequest } from './compaction-types.js';
import { DEFAULT_COMPACTION_PROMPT } from './context-texts.js';
import { policyOf, said, steps, summaryEntry, user } from './histories.test-helper.js';
import { ModelCompactor, type ModelCompactorOptions } from './model-compactor.js';
import { prepareCompaction } from './prepare-compaction.js';
import { summaryMessage } from './summary-message.js';

const HISTORY = [summaryMessage(summaryEntry('S1')), user('one'), said('a'.repeat(400)), user('two'), said('b')];

function requestOf(history = HISTORY): CompactionRequest {
  const preparation = prepareCompaction(history, policyOf(1_000, 0, 1));
  return { operationId: 'op', trigger: 'explicit', preparation, previousSummary: preparation.previousSummary };
}

function compact(step: ScriptedStep, options: ModelCompactorOptions = {}, signal = new AbortController().signal) {
  const model = new ScriptedModel([step], { name: 'small' });
  return { model, output: new ModelCompactor(model, options).compact(requestOf(), signal) };
}

function shownTo(model: ScriptedModel): ModelRequest {
  const request = model.requests[0];
  if (request === undefined) throw new Error('the model was not asked');
  return request;
}

describe('ModelCompactor', () => {
  it('shows the old messages and the earlier summary, and gives back the text', async () => {
    const { model, output } = compact(say('  S2 \n'));
    expect(await output).toEqual({ content: 'S2', source: 'small' });
    const { messages, tools } = shownTo(model);
    expect(tools).toEqual([]);
    expect(messages).toEqual([
      { role: 'system', content: DEFAULT_COMPACTION_PROMPT },
      { role: 'user', content: `[earlier summary]\nS1\n\n[user]\none\n\n[assistant]\n${'a'.repeat(400)}` },
    ]);
  });

  it('takes another prompt and another source', async () => {
    const { model, output } = compact(say('S2'), { prompt: 'Be brief.', source: ' notary ' });
    expect((await output).source).toBe('notary');
    expect(shownTo(model).messages[0]?.content).toBe('Be brief.');
  });

  it('sends what a builder makes of the request', async () => {
    const built: ModelRequest = { messages: [user('mine')], tools: [] };
    const { model, output } = compact(say('S2'), {
      contextBuilder: ({ operationId }) => ({ ...built, messages: [user(operationId)] }),
    });
    await output;
    expect(shownTo(model).messages).toEqual([user('op')]);
  });

  it('takes the text of a streamed answer from its end', async () => {
    const streamed: ModelStreamEvent[] = [
      { type: 'thinking_delta', delta: 'hm' },
      { type: 'text_delta', delta: 'S' },
      { type: 'completed', response: say('S2') },
    ];
    expect((await compact(streamed).output).content).toBe('S2');
  });

  it.each<[string, ScriptedStep, RegExp]>([
    ['no text', say(null), /empty summary/u],
    ['a blank', say('  \n'), /empty summary/u],
    ['a call', say('S', call('c', 'write')), /called a tool/u],
    ['half a summary', sayWith({ finishReason: 'length' }, 'S'), /length limit/u],
    ['a withheld summary', sayWith({ finishReason: 'content_filter' }, 'S'), /content filter/u],
    ['a stream without an end', [{ type: 'text_delta', delta: 'S' }], /without completing/u],
    ['an error', new Error('provider down'), /^provider down$/u],
  ])('fails for %s', async (_name, step, error) => {
    await expect(compact(step).output).rejects.toThrow(error);
  });

  it('cuts a summary that is too long, and says so', async () => {
    const { output } = compact(say('x'.repeat(300)), { maxSummaryChars: 100 });
    const { content } = await output;
    expect(content).toHaveLength(100);
    expect(content).toMatch(/^x+ … \[cut\]$/u);
  });

  it.each(['x', 'é', '😀'])('cuts a summary of many %s until it is smaller than what it replaces', async (letter) => {
    const compactor = new ModelCompactor(new ScriptedModel([say(letter.repeat(2_000))]));
    const runner = new CompactionRunner({ compactor, newId: () => 'id' });
    const { preparation } = requestOf();
    const signal = new AbortController().signal;
    const { result } = await runner.run({ trigger: 'explicit', operationId: 'op', preparation, signal });
    expect(result).toMatchObject({ status: 'completed', error: null });
    expect(result.summary?.content.isWellFormed()).toBe(true);
    expect(result.summary?.content.length).toBeGreaterThan(90);
  });

  it.each([
    ['asks for', 'a long', 'huge '.repeat(250), /state that task in full/u],
    ['says it has', 'a short', 'huge', /keeps the last message of the user word for word/u],
  ])('%s the words of %s task whose work goes on', async (_what, _length, task, note) => {
    const model = new ScriptedModel([say('S')]);
    await new ModelCompactor(model).compact(requestOf([user(task), ...steps(30)]), new AbortController().signal);
    expect(shownTo(model).messages[1]?.content).toMatch(note);
  });

  it.each([{ source: ' ' }, { maxSummaryChars: 0 }, { maxInputChars: Number.NaN }, { timeoutMs: -1 }])(
    'refuses %j',
    (options) => {
      expect(() => new ModelCompactor(new ScriptedModel(), options)).toThrow(RangeError);
    },
  );
});

describe('ModelCompactor: the end of waiting', () => {
  const never = (): Promise<ScriptedStep> => new Promise(() => undefined);

  it('ends when it is aborted, with a model that does not', async () => {
    const controller = new AbortController();
    const asked = Promise.withResolvers<AbortSignal>();
    const deaf = {
      name: 'deaf',
      async *stream(_request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelStreamEvent> {
        asked.resolve(signal);
        await never();
        yield { type: 'text_delta', delta: 'never' };
      },
    };
    const output = new ModelCompactor(deaf).compact(requestOf(), controller.signal);
    const signal = await asked.promise;
    controller.abort(new Error('stop'));
    await expect(output).rejects.toThrow('stop');
    expect(signal.aborted).toBe(true);
  });

  it('asks no model if it was aborted before', async () => {
    const { model, output } = compact(say('S'), {}, AbortSignal.abort(new Error('gone')));
    await expect(output).rejects.toThrow('gone');
    expect(model.requests).toHaveLength(0);
  });

  it('fails when the time is over', async () => {
    await expect(compact(never, { timeoutMs: 5 }).output).rejects.toThrow('wrote no summary within 5 ms');
  });

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    await compact(say('S'), {}, signal).output;
    await compact(new Error('x'), {}, signal).output.catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
