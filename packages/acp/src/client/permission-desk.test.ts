import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import { PermissionDesk, type PermissionDeskOptions } from './permission-desk.js';
import type { PermissionAnswer, PermissionCallback } from './permission-policy.js';
import { PERMISSION_KINDS, type PermissionQuestion } from './permission-question.js';

const TIMEOUT_MS = 1_000;
const CANCELLED = { outcome: 'cancelled' };
const ALLOWED = { outcome: 'selected', optionId: 'allow_once' };
const REFUSED = { outcome: 'selected', optionId: 'reject_once' };

const question: PermissionQuestion = {
  sessionId: 's1',
  callId: 'call-1',
  title: 'Write a file',
  tool: 'write',
  toolKind: 'edit',
  rawInput: {},
  options: PERMISSION_KINDS.map((kind) => ({ id: kind, name: kind, kind })),
};
const { signal: neverGone } = new AbortController();

describe('the desk that answers a child', () => {
  let waits: boolean[];
  let warnings: unknown[];

  function desk(
    permission: PermissionDeskOptions['permission'],
    more: Partial<PermissionDeskOptions> = {},
  ): PermissionDesk {
    return new PermissionDesk({
      sessionId: 's1',
      permission,
      timeoutMs: TIMEOUT_MS,
      logger: { warn: (_message, details) => warnings.push(details) },
      onWait: (isWaiting) => waits.push(isWaiting),
      inCaller: (work) => work(),
      ...more,
    });
  }

  beforeEach(() => {
    jest.useFakeTimers();
    waits = [];
    warnings = [];
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('answers by its policy, without anybody being waited for', async () => {
    expect(await desk('allow').answer(question, neverGone)).toEqual(ALLOWED);
    expect(await desk('reject').answer(question, neverGone)).toEqual(REFUSED);
    expect(waits).toEqual([]);
  });

  it('answers as the callback says, at once or later', async () => {
    expect(await desk(() => 'allow').answer(question, neverGone)).toEqual(ALLOWED);
    expect(await desk(() => Promise.resolve({ optionId: 'reject_once' })).answer(question, neverGone)).toEqual(REFUSED);
    expect(waits).toEqual([true, false, true, false]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each<[string, PermissionCallback]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['answers nothing', () => undefined as unknown as PermissionAnswer],
  ])('refuses when the callback %s', async (_what, callback) => {
    expect(await desk(callback).answer(question, neverGone)).toEqual(REFUSED);
    expect(warnings).toHaveLength(1);
    expect(waits).toEqual([true, false]);
  });

  it('refuses when the callback is late, and tells it so', async () => {
    let asked: AbortSignal | undefined;
    const answering = desk((_question, signal) => {
      asked = signal;
      return new Promise(() => undefined);
    }).answer(question, neverGone);
    await Promise.resolve();
    expect(asked?.aborted).toBe(false);
    jest.advanceTimersByTime(TIMEOUT_MS);
    expect(await answering).toEqual(REFUSED);
    expect(asked?.aborted).toBe(true);
    expect(waits).toEqual([true, false]);
  });

  it('answers "cancelled" when it is closed, and what comes after, whatever the callback says then', async () => {
    const decision = Promise.withResolvers<PermissionAnswer>();
    let asked: AbortSignal | undefined;
    const closing = desk((_question, signal) => {
      asked = signal;
      return decision.promise;
    });
    const answering = closing.answer(question, neverGone);
    await Promise.resolve();
    closing.close();
    expect(asked?.aborted).toBe(true);
    decision.resolve('allow');
    expect(await answering).toEqual(CANCELLED);
    expect(await closing.answer(question, neverGone)).toEqual(CANCELLED);
    expect(waits).toEqual([true, false]);
  });

  it.each(['allow', 'reject'] as const)(
    'answers "cancelled" when it is closed, whatever the policy: %s',
    async (policy) => {
      const closed = desk(policy);
      closed.close();
      expect(await closed.answer(question, neverGone)).toEqual(CANCELLED);
    },
  );

  it('asks nobody any more when the child that asked is gone', async () => {
    const child = new AbortController();
    let asked: AbortSignal | undefined;
    const answering = desk((_question, signal) => {
      asked = signal;
      return new Promise(() => undefined);
    }).answer(question, child.signal);
    await Promise.resolve();
    child.abort();
    expect(asked?.aborted).toBe(true);
    expect(await answering).toEqual(CANCELLED);
  });

  it('refuses more questions than anybody can have before them', async () => {
    let asked = 0;
    const busy = desk(() => {
      asked += 1;
      return new Promise(() => undefined);
    });
    const answers = Array.from({ length: 65 }, () => busy.answer(question, neverGone));
    expect(await answers.at(-1)).toEqual(REFUSED);
    expect(asked).toBe(64);
    busy.close();
    await Promise.all(answers);
  });

  it('asks from where the run was started', async () => {
    const storage = new AsyncLocalStorage<string>();
    const inCaller = storage.run('the parent', () => AsyncLocalStorage.snapshot());
    const seen: unknown[] = [];
    const asking = desk(
      () => {
        seen.push(storage.getStore());
        return 'reject';
      },
      { inCaller },
    );
    await storage.run('the reader of the pipe', () => asking.answer(question, neverGone));
    expect(seen).toEqual(['the parent']);
  });
});
