import { type AppError, silentLogger } from '@parley/service-kit';
import { z } from 'zod';
import type { TaskExecutor, TaskOutcome, TaskRequest } from '../a2a/task-executor.js';
import type { Skill } from '../skill.js';
import type { InvokeRequest } from '../wire/agreement.js';
import { DEFAULT_AGENT_SETTINGS } from './agent-options.js';
import { CallRunner } from './call-runner.js';
import { skillExecutor } from './skill-executor.js';

const count: Skill<{ text: string }> = {
  capability: 'count',
  detail: { parameters: { unit: { type: 'string', default: 'words' } } },
  input: z.strictObject({ text: z.string().trim() }),
  run: ({ text }, { parameters, contextId }) => Promise.resolve({ length: text.length, ...parameters, contextId }),
};

const NEVER = new AbortController().signal;

interface Setting {
  readonly released: string[];
  call(more?: {
    callId?: string;
    input?: InvokeRequest['input'];
    capability?: string;
  }): ReturnType<CallRunner['handle']>;
}

function runnerOf(executor: TaskExecutor, callDeadlineMs = 5_000): Setting {
  const released: string[] = [];
  const runner = new CallRunner({
    keeper: {
      reserveCall: ({ callId }) =>
        Promise.resolve({
          applied: { unit: 'letters' },
          termsDigest: 'sha256:terms',
          remaining: { calls: 1 },
          repeated: false,
          initiator: 'asker',
          release: () => {
            released.push(callId);
            return Promise.resolve();
          },
        }),
    },
    skills: [count],
    executor,
    settings: { ...DEFAULT_AGENT_SETTINGS, callDeadlineMs },
    logger: silentLogger,
    now: Date.now,
    onCall: () => undefined,
  });
  return {
    released,
    call: ({ callId = 'call-1', input = { text: ' abc ' }, capability = 'count' } = {}) =>
      runner.handle(
        { agreement_id: 'agr-1', terms_digest: 'sha256:terms', capability, call_id: callId, input, parameters: {} },
        { proof: undefined, signal: NEVER },
      ),
  };
}

function ending(outcome: TaskOutcome): { readonly executor: TaskExecutor; readonly asked: TaskRequest[] } {
  const asked: TaskRequest[] = [];
  return {
    asked,
    executor: {
      execute: (request, reporter) => {
        asked.push(request);
        reporter.working('counting');
        reporter.artifact({ artifactId: 'a', name: 'count', parts: [] });
        return Promise.resolve(outcome);
      },
    },
  };
}

describe('a call', () => {
  it('is one described piece of work for the executor, and its output is the answer', async () => {
    const { executor, asked } = ending({ state: 'completed', text: 'three', output: { length: 3 } });
    const { call, released } = runnerOf(executor);
    expect(await call()).toEqual({
      call_id: 'call-1',
      capability: 'count',
      output: { length: 3 },
      applied: { unit: 'letters' },
      terms_digest: 'sha256:terms',
      remaining: { calls: 1 },
    });
    expect(asked).toEqual([
      {
        taskId: 'call-1',
        contextId: 'agr-1/call-1',
        messageId: 'call-1',
        parts: [{ kind: 'data', data: { input: { text: ' abc ' } }, mediaType: 'application/json' }],
        capability: 'count',
        parameters: { unit: 'letters' },
        agreement: { agreementId: 'agr-1', termsDigest: 'sha256:terms' },
        hops: 0,
        isFollowUp: false,
        standsAlone: true,
        signal: expect.any(AbortSignal) as AbortSignal,
      },
    ]);
    expect(released).toEqual(['call-1']);
  });

  it('is done by the skill itself where nobody else does it', async () => {
    const { output } = await runnerOf(skillExecutor([count])).call();
    expect(output).toEqual({ length: 3, unit: 'letters', contextId: 'agr-1/call-1' });
  });

  it('gets the same answer again, and is not done again', async () => {
    const output = { length: 3 };
    const { executor, asked } = ending({ state: 'completed', output });
    const { call } = runnerOf(executor);
    const first = await call();
    output.length = 4;
    expect(await call()).toEqual(first);
    expect(first.output).toEqual({ length: 3 });
    expect(asked).toHaveLength(1);
    await expect(call({ input: { text: 'other' } })).rejects.toMatchObject({ code: 'call_id_conflict' });
  });

  it.each([
    ['of another shape', { text: 7 }],
    ['that lacks something', {}],
  ])('with an input %s reaches nobody', async (_what, input) => {
    const { executor, asked } = ending({ state: 'completed', output: {} });
    const { call, released } = runnerOf(executor);
    await expect(call({ input })).rejects.toMatchObject({
      reason: 'invalid_request',
      errors: [{ path: 'text', message: expect.any(String) as string }],
    });
    expect([asked.length, released]).toEqual([0, ['call-1']]);
  });

  it('of something that nobody here does reaches nobody', async () => {
    const { executor, asked } = ending({ state: 'completed', output: {} });
    await expect(runnerOf(executor).call({ capability: 'paint' })).rejects.toMatchObject({
      reason: 'failed_precondition',
      code: 'capability_not_callable',
    });
    expect(asked).toHaveLength(0);
  });

  it.each<[string, TaskOutcome, Partial<AppError>]>([
    [
      'asks back',
      { state: 'input_required', text: 'Which one?' },
      { reason: 'invalid_request', message: 'Which one?' },
    ],
    [
      'rejects it',
      { state: 'rejected', text: 'Not my kind.' },
      { reason: 'failed_precondition', code: 'capability_not_callable', message: 'Not my kind.' },
    ],
    [
      'ends it as failed',
      { state: 'failed', text: 'Half of it.' },
      { reason: 'unavailable', code: 'work_failed', message: 'Half of it.' },
    ],
    ['gives no answer', { state: 'completed', text: 'Done.' }, { reason: 'unavailable', code: 'work_failed' }],
  ])('is a typed failure when the executor %s, and may be tried again', async (_what, outcome, error) => {
    const { executor, asked } = ending(outcome);
    const { call } = runnerOf(executor);
    await expect(call()).rejects.toMatchObject(error);
    await expect(call()).rejects.toMatchObject(error);
    expect(asked).toHaveLength(2);
  });

  it('is aborted when its time is over', async () => {
    const reasons: unknown[] = [];
    const executor: TaskExecutor = {
      execute: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            reject(signal.reason as Error);
          });
        }),
    };
    const { call, released } = runnerOf(executor, 20);
    await expect(call()).rejects.toMatchObject({ reason: 'deadline_exceeded', code: 'call_deadline' });
    expect([reasons.length, released]).toEqual([1, ['call-1']]);
  });
});

describe('the skills as an executor', () => {
  const request: TaskRequest = {
    taskId: 't',
    contextId: 'c',
    messageId: 'm',
    parts: [{ kind: 'data', data: { input: { text: 'ab' } } }],
    capability: 'count',
    parameters: {},
    agreement: undefined,
    hops: 0,
    isFollowUp: false,
    signal: NEVER,
  };
  const execute = (more: Partial<TaskRequest>): Promise<TaskOutcome> =>
    skillExecutor([count]).execute({ ...request, ...more }, { working: () => undefined, artifact: () => undefined });

  it('reject what none of them does', async () => {
    expect(await execute({ capability: 'paint' })).toEqual({ state: 'rejected' });
    expect(await execute({ capability: undefined })).toEqual({ state: 'rejected' });
  });

  it.each([
    ['words', [{ kind: 'text', text: 'count this' }]],
    ['data without an input', [{ kind: 'data', data: { text: 'ab' } }]],
    ['an input of another shape', [{ kind: 'data', data: { input: 7 } }]],
  ] as const)('refuse %s', async (_what, parts) => {
    await expect(execute({ parts })).rejects.toMatchObject({ name: 'AppError', reason: 'invalid_request' });
  });
});
