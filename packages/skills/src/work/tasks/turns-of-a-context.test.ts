import type { DelegateRequest } from '@parley/agent';
import { call, MemorySessionStorage, say, ScriptedModel } from '@parley/harness';
import { translate } from '../../index.js';
import { data, executorOf, NEVER, Partner, Recorder, request, text } from './task.test-helper.js';

const inGerman = (words: string) =>
  translate.run({ text: words }, { parameters: { target_language: 'de' }, signal: NEVER });

describe('turns of one context', () => {
  it('remember each other: the next task works on what the last one gave', async () => {
    const executor = executorOf();
    const reporter = new Recorder();
    await executor.execute(request([text('summarize in one sentence: The agent is good. It works.')]), reporter);
    const { summary } = reporter.output('summarize') as { summary: string };
    await executor.execute(request([text('Now translate it into German')]), reporter);
    expect(reporter.output('translate')).toEqual(await inGerman(summary));
  });

  it('remember what was described for programs too', async () => {
    const executor = executorOf();
    const reporter = new Recorder();
    await executor.execute(
      request([data({ capability: 'summarize', input: { text: 'The agent is good.' } })]),
      reporter,
    );
    await executor.execute(request([text('translate that into German, please')]), reporter);
    expect(reporter.output('translate')).toEqual(await inGerman('The agent is good.'));
  });

  it('know nothing of other contexts', async () => {
    const executor = executorOf();
    await executor.execute(request([text('summarize: The agent is good.')]), new Recorder());
    const outcome = await executor.execute(
      request([text('Now translate it into German')], { contextId: 'other' }),
      new Recorder(),
    );
    expect(outcome.state).toBe('input_required');
  });

  it('answer the question of their own task, whatever came between', async () => {
    const executor = executorOf();
    const reporter = new Recorder();
    await executor.execute(request([text('translate: The house is big.')], { taskId: 'a' }), reporter);
    await executor.execute(request([text('summarize: Agents work.')], { taskId: 'b' }), reporter);
    await executor.execute(request([text('German')], { taskId: 'a', isFollowUp: true }), reporter);
    expect(reporter.output('translate')).toEqual(await inGerman('The house is big.'));
  });

  it('never overlap', async () => {
    const partner = new Partner();
    let running = 0;
    let most = 0;
    const delegate = async (asked: DelegateRequest) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      const result = await partner.delegate(asked);
      running -= 1;
      return result;
    };
    const executor = executorOf({ delegate }, [translate]);
    const ask = (contextId: string) =>
      executor.execute(request([text('review this: eval(1)')], { contextId }), new Recorder());
    const outcomes = await Promise.all([ask('one'), ask('one'), ask('one')]);
    expect(outcomes.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed']);
    expect(most).toBe(1);
    await Promise.all([ask('one'), ask('two')]);
    expect(most).toBe(2);
  });
});

describe('an aborted turn', () => {
  it('ends with the reason, and takes the partner along', async () => {
    const caller = new AbortController();
    const reason = new Error('cancelled by the client');
    let partnerSignal: AbortSignal | undefined;
    const delegate = ({ signal }: DelegateRequest): Promise<never> => {
      partnerSignal = signal;
      queueMicrotask(() => caller.abort(reason));
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    };
    const work = executorOf({ delegate }, [translate]).execute(
      request([text('review this: eval(1)')], { signal: caller.signal }),
      new Recorder(),
    );
    await expect(work).rejects.toBe(reason);
    expect(partnerSignal?.aborted).toBe(true);
  });

  it('ends while the model thinks, and leaves the context fit for the next one', async () => {
    const caller = new AbortController();
    const reason = new Error('time is over');
    const model = new ScriptedModel([
      () => {
        caller.abort(reason);
        return say(null, call('c1', 'translate', { text: 'agent', target_language: 'de' }));
      },
      say('Hello.'),
    ]);
    const executor = executorOf({ model });
    const reporter = new Recorder();
    await expect(
      executor.execute(request([text('translate: agent')], { signal: caller.signal }), reporter),
    ).rejects.toBe(reason);
    expect(reporter.artifacts).toEqual([]);
    await expect(executor.execute(request([text('summarize: Hi.')]), reporter)).resolves.toMatchObject({
      state: 'completed',
      text: 'Hello.',
    });
  });

  it('of a described piece of work ends with the reason too', async () => {
    const caller = new AbortController();
    const reason = new Error('cancelled by the client');
    const model = new ScriptedModel([
      () => {
        caller.abort(reason);
        return say('done');
      },
    ]);
    const work = executorOf({ model }).execute(
      request([data({ capability: 'summarize', input: { text: 'Hi.' } })], { signal: caller.signal }),
      new Recorder(),
    );
    await expect(work).rejects.toBe(reason);
  });

  it('does not begin', async () => {
    const reason = new Error('too late');
    const reporter = new Recorder();
    const work = executorOf().execute(
      request([text('summarize: Hi.')], { signal: AbortSignal.abort(reason) }),
      reporter,
    );
    await expect(work).rejects.toBe(reason);
    expect(reporter.heard).toEqual([]);
  });
});

describe('a context with a journal', () => {
  it('is known to another process, with its parts and its open questions', async () => {
    const sessions = new MemorySessionStorage();
    const reporter = new Recorder();
    const before = executorOf({ sessions });
    await before.execute(request([text('summarize: The agent is good.')]), reporter);
    await before.execute(request([text('translate: The house is big.')], { taskId: 'a' }), reporter);

    const after = executorOf({ sessions });
    await after.execute(request([text('in German')], { taskId: 'a', isFollowUp: true }), reporter);
    expect(reporter.output('translate')).toEqual(await inGerman('The house is big.'));

    const later = executorOf({ sessions });
    const { translation } = reporter.output('translate') as { translation: string };
    await later.execute(request([text('translate that into English')]), reporter);
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: translation }, { parameters: { target_language: 'en' }, signal: NEVER }),
    );
    expect((await sessions.load('context-1'))?.runs).toHaveLength(4);
  });

  it('is refused when the journal cannot be read', async () => {
    const sessions = new MemorySessionStorage();
    await sessions.close();
    const work = executorOf({ sessions }).execute(request([text('summarize: Hi.')]), new Recorder());
    await expect(work).rejects.toMatchObject({ reason: 'unavailable', code: 'journal_unavailable' });
  });
});
