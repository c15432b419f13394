import { context as otel, createContextKey, trace, TraceFlags } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AppError } from '@parley/service-kit';
import type { Message } from '@a2a-js/sdk';
import { ExtensionSupportRequiredError } from '@a2a-js/sdk/errors';
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server';
import {
  asTask,
  callBy,
  echo,
  sending,
  stateIn,
  testCard,
  testEngine,
  words,
} from '../../../test-support/a2a-engine.js';
import { AGREEMENT_EXTENSION } from '../agreement/agreement-extension.js';
import type { AdmittedWork, AgreementGate } from '../agreement/agreement-gate.js';
import type { TaskExecutor, TaskRequest } from '../task-executor.js';

/** One place, which is taken until it is given back. */
class OnePlaceGate implements AgreementGate {
  taken = 0;
  admitted = 0;
  refusal: Error | undefined;

  admit(): Promise<AdmittedWork | undefined> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    if (this.taken > 0) return Promise.reject(new AppError('too_many_requests', 'Taken.', { code: 'agreement_limit' }));
    this.taken += 1;
    this.admitted += 1;
    let isReleased = false;
    return Promise.resolve({
      agreement: { agreementId: 'agr-1', termsDigest: 'd' },
      capability: 'translate',
      parameters: { language: 'de' },
      answerMetadata: { applied: { language: 'de' }, terms_digest: 'd', remaining: { calls: 3 } },
      release: async () => {
        if (isReleased) return;
        isReleased = true;
        await new Promise((resolve) => setImmediate(resolve));
        this.taken -= 1;
      },
    });
  }
}

const answerMetadata = { applied: { language: 'de' }, terms_digest: 'd', remaining: { calls: 3 } };

describe('an agreement', () => {
  it('says what is done and with what, and the answer says so', async () => {
    const gate = new OnePlaceGate();
    const { handler, executor } = testEngine({ gate });
    const call = callBy();
    const metadata = { capability: 'other', parameters: { language: 'fr' } };
    const answer = handler.sendMessage(sending('x', { metadata }), call);
    const { request, end } = await executor.work();
    expect(request).toMatchObject({
      capability: 'translate',
      parameters: { language: 'de' },
      agreement: { agreementId: 'agr-1', termsDigest: 'd' },
    });
    expect(gate.taken).toBe(1);
    end({ metadata: { tokens: 7 } });
    const task = asTask(await answer);
    expect(gate.taken).toBe(0);
    expect(task.metadata).toEqual({ tokens: 7, [AGREEMENT_EXTENSION]: answerMetadata });
    expect(call.activatedExtensions).toEqual([AGREEMENT_EXTENSION]);
  });

  it('gives its place back before the end is told, on a stream too', async () => {
    const gate = new OnePlaceGate();
    const { handler } = testEngine({ gate, work: echo });
    for (let index = 0; index < 20; index += 1) {
      for await (const { payload } of handler.sendMessageStream(sending('x'), callBy())) {
        if (payload?.$case !== 'statusUpdate' || stateIn({ status: payload.value.status } as never) !== 'COMPLETED')
          continue;
        expect(gate.taken).toBe(0);
        expect(payload.value.metadata).toEqual({ [AGREEMENT_EXTENSION]: answerMetadata });
      }
    }
    expect(gate.admitted).toBe(20);
  });

  it('that refuses is an error: no task, no work', async () => {
    const gate = new OnePlaceGate();
    gate.refusal = new AppError('forbidden', 'Out of scope.', { code: 'agreement_scope' });
    const { handler, executor, engine, store } = testEngine({ gate });
    const call = callBy();
    await expect(handler.sendMessage(sending('x'), call)).rejects.toBe(gate.refusal);
    await expect(words(handler.sendMessageStream(sending('x'), call))).rejects.toBe(gate.refusal);
    const list = { tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined };
    expect((await store.list(list, call)).totalSize).toBe(0);
    expect([executor.works.length, engine.running, call.activatedExtensions]).toEqual([0, 0, undefined]);
  });

  it('counts a message once, however often it is sent, and the repeated answer names it too', async () => {
    const gate = new OnePlaceGate();
    const { handler } = testEngine({ gate, work: echo });
    const request = sending('x', { messageId: 'same' });
    await handler.sendMessage(request, callBy());
    const call = callBy();
    await handler.sendMessage(structuredClone(request), call);
    expect([gate.admitted, call.activatedExtensions]).toEqual([1, [AGREEMENT_EXTENSION]]);
  });

  it.each(['refuses', 'is cancelled', 'does not stop', 'answers with a message'])(
    'gets its place back from work that %s',
    async (how) => {
      const gate = new OnePlaceGate();
      const answering: AgentExecutor = {
        execute: ({ userMessage }, bus) => {
          if (how === 'refuses') throw new AppError('invalid_request', 'No.');
          bus.publish(AgentEvent.message({ ...userMessage, messageId: 'answer' }));
          return Promise.resolve();
        },
        cancelTask: () => Promise.resolve(),
      };
      const isForeign = how === 'refuses' || how === 'answers with a message';
      const { handler, executor } = testEngine({
        gate,
        limits: { cancelGraceMs: 5 },
        ...(isForeign ? { executor: answering } : {}),
      });
      executor.heedsAbort = how === 'is cancelled';
      const answer = handler.sendMessage(sending('x'), callBy()).catch((error: unknown) => error);
      if (!isForeign) {
        const { request } = await executor.work();
        await handler.cancelTask({ tenant: '', id: request.taskId, metadata: undefined }, callBy());
      }
      const told = await answer;
      expect(gate.taken).toBe(0);
      if (how === 'answers with a message') {
        expect((told as Message).metadata).toEqual({ [AGREEMENT_EXTENSION]: answerMetadata });
      }
    },
  );
});

describe('extensions of the card', () => {
  const extension = (uri: string, required: boolean) => ({ uri, required, description: '', params: undefined });

  it('that are required must be asked for, and an executor sees those that both sides know', async () => {
    const capabilities = { streaming: true, extensions: [extension('urn:a', true), extension('urn:b', false)] };
    const { handler } = testEngine({ work: echo, cardOver: { capabilities } });
    await expect(handler.sendMessage(sending('x'), callBy('ann', ['urn:b']))).rejects.toThrow(
      ExtensionSupportRequiredError,
    );
    const call = callBy('ann', ['urn:c', 'urn:a']);
    await handler.sendMessage(sending('x'), call);
    expect(call.requestedExtensions).toEqual(['urn:a']);
  });

  it('may change, and so may the card', async () => {
    let card = testCard();
    const { handler } = testEngine({ work: echo, card: () => card });
    card = testCard({ name: 'later' });
    expect((await handler.getAgentCard()).name).toBe('later');
    await expect(handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, callBy())).rejects.toThrow(
      'no extended card',
    );
    card = testCard({ capabilities: { extendedAgentCard: true, extensions: [] } });
    await expect(handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, callBy())).rejects.toThrow('not configured');
    const own = testEngine({ work: echo, card: () => card, extendedCard: () => testCard({ name: 'more' }) });
    expect((await own.handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, callBy())).name).toBe('more');
  });
});

describe('the trace', () => {
  const manager = new AsyncLocalStorageContextManager().enable();
  beforeAll(() => {
    otel.setGlobalContextManager(manager);
  });
  afterAll(() => {
    otel.disable();
  });

  const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: TraceFlags.SAMPLED };
  const key = createContextKey('who');

  it.each([
    ['blocking', false],
    ['answered at once', true],
  ])('of the request is the trace of its work, %s', async (_, immediately) => {
    const seen = Promise.withResolvers<[TaskRequest, string | undefined, unknown]>();
    const work: TaskExecutor = {
      execute: async (request) => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.resolve([request, trace.getActiveSpan()?.spanContext().traceId, otel.active().getValue(key)]);
        return { state: 'completed' };
      },
    };
    const { handler } = testEngine({ work });
    const active = trace.setSpanContext(otel.active().setValue(key, 'ann'), span);
    await otel.with(active, () => handler.sendMessage(sending('x', { immediately }), callBy()));
    const [, traceId, who] = await seen.promise;
    expect([traceId, who]).toEqual([span.traceId, 'ann']);
  });

  it('is kept where one task of a context waits for another of it', async () => {
    const seen: unknown[] = [];
    const first = Promise.withResolvers<undefined>();
    const work: TaskExecutor = {
      execute: async () => {
        seen.push(otel.active().getValue(key));
        if (seen.length === 1) await first.promise;
        return { state: 'completed' };
      },
    };
    const { handler } = testEngine({ work });
    const send = (who: string) =>
      otel.with(otel.active().setValue(key, who), () =>
        handler.sendMessage(sending('x', { contextId: 'c' }), callBy()),
      );
    const answers = [send('one'), send('two')];
    await new Promise((resolve) => setImmediate(resolve));
    first.resolve(undefined);
    await Promise.all(answers);
    expect(seen).toEqual(['one', 'two']);
  });
});
