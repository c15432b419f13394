import { AppError } from '@parley/service-kit';
import { summarize, translate } from '../../index.js';
import {
  ARTICLE,
  BAD_CODE,
  data,
  executorOf,
  file,
  NEVER,
  Partner,
  Recorder,
  request,
  text,
} from './task.test-helper.js';

describe('a task in words, offline', () => {
  it('does one step after the other, each on what the one before gave', async () => {
    const reporter = new Recorder();
    const outcome = await executorOf().execute(
      request([
        text('Review this file and summarise the findings in Russian'),
        file('a.js', BAD_CODE, 'text/javascript'),
      ]),
      reporter,
    );
    expect(outcome).toMatchObject({ state: 'completed', metadata: { run: { model: 'offline', offline: true } } });
    expect(reporter.heard).toEqual([
      'code_review: agent_A is working',
      'artifact code_review',
      'code_review: agent_A has done it',
      'summarize: agent_A is working',
      'artifact summarize',
      'summarize: agent_A has done it',
      'translate: agent_A is working',
      'artifact translate',
      'translate: agent_A has done it',
    ]);
    const { summary } = reporter.output('summarize') as { summary: string };
    expect(summary).toContain('debugger');
    expect(reporter.output('code_review')).toMatchObject({ language: 'javascript', verdict: 'request_changes' });
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: summary }, { parameters: { target_language: 'ru' }, signal: NEVER }),
    );
    expect(outcome.text).toMatch(/^Done offline[\s\S]*code_review[\s\S]*summarize[\s\S]*translate/u);
  });

  it('delegates what is not its own, and goes on with what the partner made', async () => {
    const partner = new Partner();
    const reporter = new Recorder();
    const outcome = await executorOf({ delegate: partner.delegate }, [summarize, translate]).execute(
      request([text('Review this file and summarise the findings in Russian'), file('a.js', BAD_CODE)], { hops: 2 }),
      reporter,
    );
    expect(outcome.state).toBe('completed');
    expect(partner.asked).toEqual([
      expect.objectContaining({ capability: 'code_review', hops: 2, parts: [file('a.js', BAD_CODE)] }),
    ]);
    expect(reporter.heard.slice(0, 5)).toEqual([
      'code_review: looking for an agent that does it',
      'code_review: agent_B is working',
      'artifact code_review',
      'code_review: agent_B has done it',
      'summarize: agent_A is working',
    ]);
    expect(reporter.artifacts.map(({ name }) => name)).toEqual(['code_review', 'summarize', 'translate']);
    expect(reporter.artifacts[0]?.description).toBe('Made by agent_B.');
    expect((reporter.output('summarize') as { summary: string }).summary).toContain('debugger');
  });

  it('takes the text behind a colon, and leaves the request out of it', async () => {
    const reporter = new Recorder();
    await executorOf().execute(request([text('translate this into German: The agent is good.')]), reporter);
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: 'The agent is good.' }, { parameters: { target_language: 'de' }, signal: NEVER }),
    );
  });

  it('summarizes in two sentences and translates those', async () => {
    const reporter = new Recorder();
    await executorOf().execute(
      request([text(`summarize the text in two sentences and translate it to French\n\n${ARTICLE}`)]),
      reporter,
    );
    const { sentences, summary } = reporter.output('summarize') as { sentences: unknown[]; summary: string };
    expect(sentences).toHaveLength(2);
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: summary }, { parameters: { target_language: 'fr' }, signal: NEVER }),
    );
  });

  it('works on each of several files', async () => {
    const reporter = new Recorder();
    await executorOf().execute(
      request([text('review these files and sum it up'), file('a.js', 'eval(1);'), file('b.js', 'debugger;')]),
      reporter,
    );
    expect(reporter.artifacts.map(({ name }) => name)).toEqual(['code_review', 'code_review', 'summarize']);
  });
});

describe('a text alone, with its capability', () => {
  const WORDS = 'A summary of the day: the agent is good. Translate it.';

  it('is what to work on under an agreement, whatever it says', async () => {
    const reporter = new Recorder();
    await executorOf().execute(
      request([text(WORDS)], {
        capability: 'summarize',
        parameters: { max_sentences: 2 },
        agreement: { agreementId: 'agr', termsDigest: 'd' },
      }),
      reporter,
    );
    expect(reporter.output('summarize')).toEqual(
      await summarize.run({ text: WORDS }, { parameters: { max_sentences: 2 }, signal: NEVER }),
    );
  });

  it('may begin with the request for it without one', async () => {
    const reporter = new Recorder();
    const asked = { capability: 'translate', parameters: { target_language: 'de' } };
    await executorOf().execute(request([text('Please translate: The agent is good.')], asked), reporter);
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: 'The agent is good.' }, { parameters: asked.parameters, signal: NEVER }),
    );
    await executorOf().execute(request([text('A review: the agent is good.')], asked), reporter);
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: 'A review: the agent is good.' }, { parameters: asked.parameters, signal: NEVER }),
    );
  });
});

describe('a described piece of work', () => {
  it('is done exactly, with the agreed parameters', async () => {
    const reporter = new Recorder();
    const outcome = await executorOf().execute(
      request([text('Do this, please'), data({ input: { text: 'agent' } })], {
        capability: 'translate',
        parameters: { source_language: 'en', target_language: 'de' },
      }),
      reporter,
    );
    expect(outcome).toMatchObject({ state: 'completed', metadata: { run: { turns: 2, offline: true } } });
    expect(outcome.text).toContain('offline');
    expect(reporter.output('translate')).toEqual(
      await translate.run(
        { text: 'agent' },
        { parameters: { source_language: 'en', target_language: 'de' }, signal: NEVER },
      ),
    );
  });

  it('goes to a partner as it is where the agent cannot do it', async () => {
    const partner = new Partner();
    const reporter = new Recorder();
    const outcome = await executorOf({ delegate: partner.delegate }, [translate]).execute(
      request([data({ capability: 'code_review', input: { source: BAD_CODE }, parameters: { max_findings: 1 } })]),
      reporter,
    );
    expect(outcome.state).toBe('completed');
    expect(partner.asked[0]).toMatchObject({
      capability: 'code_review',
      parameters: { max_findings: 1 },
      parts: [{ kind: 'data', data: { input: { source: BAD_CODE } } }],
    });
    expect((reporter.output('code_review') as { findings: unknown[] }).findings).toHaveLength(1);
  });

  it.each([
    ['another value than agreed', { parameters: { target_language: 'fr' } }, /target_language is "de"/u],
    ['a value of no simple type', { parameters: { other: [1] } }, /other must be/u],
    ['another capability', { capability: 'summarize' }, /about translate and nothing else/u],
  ])('is rejected with %s', async (_what, more, reason) => {
    const reporter = new Recorder();
    const outcome = await executorOf().execute(
      request([data({ input: { text: 'agent' }, ...more })], {
        capability: 'translate',
        parameters: { target_language: 'de' },
      }),
      reporter,
    );
    expect(outcome).toMatchObject({ state: 'rejected', text: expect.stringMatching(reason) });
    expect(reporter.heard).toEqual([]);
  });

  it('fails with the error of the skill for an input that is wrong', async () => {
    const work = executorOf().execute(request([data({ capability: 'summarize', input: { text: 7 } })]), new Recorder());
    await expect(work).rejects.toMatchObject({ name: 'AppError', reason: 'invalid_request' });
  });
});

describe('a task that lacks something', () => {
  const TASK = { taskId: 'task-x' };

  it('asks for a text where there is none, and works with the answer', async () => {
    const executor = executorOf();
    const reporter = new Recorder();
    const asked = await executor.execute(request([text('Please translate it into German')], TASK), reporter);
    expect(asked).toMatchObject({ state: 'input_required', text: expect.stringContaining('Which text') });
    expect(reporter.artifacts).toEqual([]);
    const outcome = await executor.execute(
      request([text('The review was good.')], { ...TASK, isFollowUp: true }),
      reporter,
    );
    expect(outcome.state).toBe('completed');
    expect(reporter.artifacts.map(({ name }) => name)).toEqual(['translate']);
    expect(reporter.output('translate')).toMatchObject({ target_language: 'de', source_language: 'en' });
  });

  it('asks for the language of a translation, and works with the answer', async () => {
    const executor = executorOf();
    const reporter = new Recorder();
    const asked = await executor.execute(request([text('translate: The agent is good.')], TASK), reporter);
    expect(asked).toEqual(
      expect.objectContaining({
        state: 'input_required',
        text: 'Into which language shall I translate: en, ru, de, fr?',
      }),
    );
    const outcome = await executor.execute(request([text('German, please')], { ...TASK, isFollowUp: true }), reporter);
    expect(outcome.state).toBe('completed');
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: 'The agent is good.' }, { parameters: { target_language: 'de' }, signal: NEVER }),
    );
  });

  it('names the language that it does not know', async () => {
    const asked = await executorOf().execute(request([text('translate into Spanish: Hello.')]), new Recorder());
    expect(asked).toMatchObject({ state: 'input_required', text: expect.stringContaining('Spanish') });
  });

  it('asks what to do with a text alone, and works with the answer', async () => {
    const executor = executorOf();
    const reporter = new Recorder();
    const asked = await executor.execute(request([text('The agent is good.')], TASK), reporter);
    expect(asked).toMatchObject({ state: 'input_required', text: expect.stringContaining('code_review, summarize') });
    await executor.execute(request([text('Translate it into French')], { ...TASK, isFollowUp: true }), reporter);
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: 'The agent is good.' }, { parameters: { target_language: 'fr' }, signal: NEVER }),
    );
  });

  it.each([
    ['no part', []],
    ['an empty text', [text('  ')]],
    ['an address', [{ kind: 'url', url: 'http://127.0.0.1/x' } as const]],
    ['bytes that are no text', [{ kind: 'bytes', bytes: Uint8Array.of(0xff, 0xfe, 0) } as const]],
  ])('asks when there is %s', async (_what, parts) => {
    const outcome = await executorOf().execute(request(parts), new Recorder());
    expect(outcome).toMatchObject({ state: 'input_required', text: expect.stringContaining('?') });
  });

  it('asks for what a described piece of work lacks, one after the other', async () => {
    const executor = executorOf();
    const reporter = new Recorder();
    const first = await executor.execute(request([data({ capability: 'translate', input: {} })], TASK), reporter);
    expect(first).toMatchObject({ state: 'input_required', text: expect.stringContaining('no text') });
    const second = await executor.execute(request([text('house')], { ...TASK, isFollowUp: true }), reporter);
    expect(second).toMatchObject({ state: 'input_required', text: expect.stringContaining('language') });
    const third = await executor.execute(request([text('auf Deutsch')], { ...TASK, isFollowUp: true }), reporter);
    expect(third.state).toBe('completed');
    expect(reporter.output('translate')).toEqual(
      await translate.run({ text: 'house' }, { parameters: { target_language: 'de' }, signal: NEVER }),
    );
  });
});

describe('a task that cannot be done', () => {
  it.each([
    ['named', request([text('x')], { capability: 'paint' })],
    ['described', request([data({ capability: 'paint', input: {} })])],
    ['asked for in words', request([text('review this: eval(1)')])],
  ])('is rejected when the capability is %s and nobody may be asked', async (_how, asked) => {
    const reporter = new Recorder();
    const outcome = await executorOf({}, [translate]).execute(asked, reporter);
    expect(outcome).toMatchObject({ state: 'rejected', text: expect.stringContaining('translate') });
    expect(reporter.heard).toEqual([]);
  });

  it.each([
    ['negotiation_failed', 'Nobody had begun.', 'failed_precondition'],
    ['delegate_failed', 'The partner had begun, or may have.', 'bad_gateway'],
  ] as const)('fails with the error %s of a partner, and says whether it had begun', async (code, told, reason) => {
    const error = new AppError(reason, 'It did not work out.', { code });
    const work = executorOf({ delegate: () => Promise.reject(error) }, [translate]).execute(
      request([text('review this: eval(1)')]),
      new Recorder(),
    );
    const thrown = (await work.catch((failure: unknown) => failure)) as AppError;
    expect(thrown).toMatchObject({ code, reason });
    expect(thrown.message).toContain(told);
  });

  it('fails, with what was done, when a later step fails', async () => {
    const reporter = new Recorder();
    const error = new AppError('bad_gateway', 'It broke off.', { code: 'delegate_failed' });
    const outcome = await executorOf({ delegate: () => Promise.reject(error) }, [summarize]).execute(
      request([text(`summarize and translate into German: ${ARTICLE}`)]),
      reporter,
    );
    expect(outcome).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('translate failed: It broke off.'),
    });
    expect(reporter.artifacts.map(({ name }) => name)).toEqual(['summarize']);
  });
});
