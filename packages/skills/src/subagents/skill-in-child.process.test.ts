import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Skill } from '@parley/agent';
import { waitFor } from '@parley/testkit';
import { OfflineAgentModel, createTaskExecutor, codeReview } from '../index.js';
import { data, Recorder, request } from '../work/tasks/task.test-helper.js';
import { childrenOf } from './children-of.test-helper.js';
import { childPrograms, compileSkills, reviewInChild, WarningLog } from './review-in-child.test-helper.js';
import type { SkillsInChildrenOptions } from './skills-in-children.js';

const { jest } = import.meta;
// Processes come up slowly where many others do at the same time.
jest.setTimeout(90_000);

const PATIENT = { AGENT_SUBAGENT_START_SECONDS: '60' };
const NEVER = new AbortController().signal;
/** Each further level doubles the parser's work: it takes as long as it may, three seconds. */
const SLOW = { source: 'async('.repeat(200), filename: 'a.ts' };
const BAD = { source: 'const a = 1;\nif (a == 2) eval("a");\n' };

let opened: Skill[] = [];

beforeAll(compileSkills, 300_000);
afterEach(async () => {
  await Promise.all(opened.map(async (skill) => skill.close?.()));
  opened = [];
});

interface Subject {
  readonly skill: Skill;
  readonly log: WarningLog;
  /** Ids of its processes. */
  children(): Promise<number[]>;
}

function subject(env: Record<string, string> = {}, options: Partial<SkillsInChildrenOptions> = {}): Subject {
  const log = new WarningLog();
  const agentId = `agent_${randomUUID()}`;
  const skill = reviewInChild({ ...PATIENT, ...env }, { agentId, logger: log, ...options });
  opened.push(skill);
  return { skill, log, children: () => childrenOf(agentId) };
}

/** With a child that does what the mode says. */
function odd(mode: string, env: Record<string, string> = {}, more: Record<string, string> = {}): Subject {
  const { PATH = '' } = process.env;
  return subject(env, { program: childPrograms.odd, env: { PATH, OTEL_ODD_MODE: mode, ...more } });
}

const run = (skill: Skill, input: unknown = BAD, signal = NEVER) => skill.run(input, { parameters: {}, signal });

describe('a skill in a child process', () => {
  it('gives what it gives in the same process, and refuses what it refuses there', async () => {
    const { skill } = subject();
    const parameters = { severity: 'error', max_findings: 1 };
    const here = await codeReview.run(BAD, { parameters, signal: NEVER });
    expect(await skill.run(BAD, { parameters, signal: NEVER })).toEqual(here);
    for (const [input, wrong] of [
      [{ source: 1 }, {}],
      [BAD, { severity: 'fatal' }],
    ] as const) {
      const context = { parameters: wrong as Record<string, string>, signal: NEVER };
      const refusal = (await codeReview.run(input, context).catch((error: unknown) => error)) as Error;
      const { reason, code, errors, message } = refusal as unknown as Record<string, unknown>;
      await expect(skill.run(input, context)).rejects.toMatchObject({ reason, code, errors, message });
    }
  });

  it('is the same for tasks', async () => {
    const { skill } = subject();
    const order = request([data({ input: BAD })], { capability: 'code_review', parameters: { severity: 'warning' } });
    const done = async (one: Skill) => {
      const recorder = new Recorder();
      const executor = createTaskExecutor([one], { agentId: 'agent_T', model: new OfflineAgentModel() });
      const outcome = await executor.execute(order, recorder);
      const { run: _, ...output } = outcome.output ?? {};
      return { text: outcome.text, output, report: recorder.markdown('code_review'), heard: recorder.heard };
    };
    expect(await done(skill)).toEqual(await done(codeReview));
  });

  it('leaves the event loop free while it works', async () => {
    const { skill } = subject();
    await skill.prepare?.();
    const review = run(skill, SLOW);
    const state = { isOver: false };
    void review.finally(() => (state.isOver = true));
    let longest = 0;
    let last = performance.now();
    while (!state.isOver) {
      await delay(10);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
    expect(await review).toMatchObject({ findings: [{ rule: 'parley/not-analysed' }, { rule: 'parley/long-line' }] });
    // In the same process it stands still for three seconds.
    expect(longest).toBeLessThan(1_500);
  });

  it('keeps one process warm for what comes next, and ends it when nothing does', async () => {
    const { skill, children } = subject({ AGENT_SUBAGENT_IDLE_SECONDS: '2' });
    await skill.prepare?.();
    const before = await children();
    expect(before).toHaveLength(1);
    for (let n = 0; n < 3; n += 1) await run(skill);
    expect(await children()).toEqual(before);
    await waitFor(async () => (await children()).length === 0, { timeoutMs: 20_000 });
    expect(await run(skill)).toMatchObject({ verdict: 'request_changes' });
  });

  it('has a new process each time where none is kept', async () => {
    const { skill, children } = subject({ AGENT_SUBAGENT_POOL_SIZE: '0' });
    await run(skill);
    await waitFor(async () => (await children()).length === 0, { timeoutMs: 20_000 });
    await run(skill);
    await skill.close?.();
    expect(await children()).toEqual([]);
  });

  it('has no more processes than allowed, and does everything one after the other', async () => {
    const { skill, children } = subject({ AGENT_SUBAGENT_MAX_CHILDREN: '2', AGENT_SUBAGENT_POOL_SIZE: '2' });
    const all = Promise.all(Array.from({ length: 6 }, () => run(skill)));
    const state = { isOver: false };
    void all.finally(() => (state.isOver = true));
    const counts: number[] = [];
    while (!state.isOver) {
      counts.push((await children()).length);
      await delay(20);
    }
    expect(await all).toHaveLength(6);
    expect(Math.max(...counts)).toBe(2);
  });

  it('leaves no process and no listener behind', async () => {
    const { skill, children } = subject();
    const controller = new AbortController();
    for (let n = 0; n < 5; n += 1) await run(skill, BAD, controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await skill.close?.();
    expect(await children()).toEqual([]);
    await expect(run(skill)).rejects.toMatchObject({ code: 'subagent_not_started' });
  });
});

describe('a child that does not do its work', () => {
  it.each([
    ['dies at once', 'subagent_not_started', /exited with code 3/u],
    ['never speaks', 'subagent_not_started', /initialize/u],
    ['dies in the middle', 'subagent_failed', /exited with code 7/u],
    ['is killed', 'subagent_failed', /killed by SIGKILL/u],
    ['never answers', 'subagent_failed', /1000|1 s/u],
    ['is busy for ever', 'subagent_failed', /1000|1 s/u],
  ])('%s: the call fails in bounded time, and the log says why', async (mode, code, why) => {
    const isSlow = mode === 'never speaks';
    const { skill, log, children } = odd(mode, {
      AGENT_SUBAGENT_DEADLINE_SECONDS: '1',
      ...(isSlow ? { AGENT_SUBAGENT_START_SECONDS: '1' } : {}),
    });
    await expect(run(skill)).rejects.toMatchObject({ reason: 'unavailable', code });
    expect(await children()).toEqual([]);
    const [warning] = log.warnings;
    const { error } = warning?.details as { error: Error };
    expect(error.message).toMatch(why);
  });

  it('refuses: the call fails, and the log says why', async () => {
    const { skill, log } = odd('refuses');
    await expect(run(skill)).rejects.toMatchObject({ reason: 'unavailable', code: 'subagent_failed' });
    expect(log.warnings).toMatchObject([{ details: { stop_reason: 'refusal' } }]);
  });

  it.each(['answers in words', 'answers something else'])('%s: it is not believed', async (mode) => {
    const { skill } = odd(mode);
    await expect(run(skill)).rejects.toMatchObject({ reason: 'bad_gateway', code: 'subagent_answer_invalid' });
  });

  it('is replaced for the next call when it was killed while it was kept', async () => {
    const { skill, children } = subject();
    await skill.prepare?.();
    const [pid] = await children();
    process.kill(pid ?? 0, 'SIGKILL');
    expect(await run(skill)).toMatchObject({ verdict: 'request_changes' });
    expect(await children()).not.toContain(pid);
  });

  it('fails the call that it has when it is killed, and not the next', async () => {
    const { skill, children } = subject();
    await skill.prepare?.();
    const [pid] = await children();
    const failing = run(skill, SLOW);
    await delay(300);
    process.kill(pid ?? 0, 'SIGKILL');
    await expect(failing).rejects.toMatchObject({ reason: 'unavailable', code: 'subagent_failed' });
    expect(await run(skill)).toMatchObject({ verdict: 'request_changes' });
  });

  it('that cannot be started at all fails the call', async () => {
    const { skill } = subject({}, { program: '/nowhere/at-all.mjs' });
    await expect(run(skill)).rejects.toMatchObject({ reason: 'unavailable', code: 'subagent_not_started' });
  });
});

describe('a call that is cancelled', () => {
  it('before it began starts no process', async () => {
    const { skill, children } = subject();
    await expect(run(skill, BAD, AbortSignal.abort())).rejects.toMatchObject({ reason: 'cancelled' });
    expect(await children()).toEqual([]);
  });

  it('while its process comes up leaves none', async () => {
    const { skill, children } = subject();
    const controller = new AbortController();
    const failing = run(skill, BAD, controller.signal);
    await waitFor(async () => (await children()).length === 1);
    controller.abort();
    await expect(failing).rejects.toMatchObject({ reason: 'cancelled' });
    expect(await children()).toEqual([]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it.each([
    ['cancelled', () => undefined],
    ['deadline_exceeded', () => new DOMException('late', 'TimeoutError')],
  ])('(%s) in the middle of a review ends the process that is busy with it', async (reason, cause) => {
    const { skill, children } = subject();
    await skill.prepare?.();
    const controller = new AbortController();
    const failing = run(skill, SLOW, controller.signal);
    await delay(300);
    controller.abort(cause());
    await expect(failing).rejects.toMatchObject({ reason });
    expect(await children()).toEqual([]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('while it waits for its turn is answered at once', async () => {
    const { skill } = odd('never answers', { AGENT_SUBAGENT_MAX_CHILDREN: '1', AGENT_SUBAGENT_DEADLINE_SECONDS: '30' });
    const first = new AbortController();
    const second = new AbortController();
    const both = [run(skill, BAD, first.signal), run(skill, BAD, second.signal)];
    second.abort();
    await expect(both[1]).rejects.toMatchObject({ reason: 'cancelled' });
    first.abort();
    await expect(both[0]).rejects.toMatchObject({ reason: 'cancelled' });
  });
});

it('tells its child nothing of the environment that is not harmless or about telemetry', async () => {
  const { skill } = odd(
    'tells its environment',
    {},
    {
      OPENAI_API_KEY: 'swordfish-1',
      REDIS_URL: 'redis://user:swordfish-2@host/0',
      AGENT_OWNER_TOKEN: 'swordfish-3',
      AGENT_ID: 'agent_B',
      NODE_OPTIONS: '--no-warnings',
      LANG: 'C',
      OTEL_SERVICE_NAME: 'agent-b',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    },
  );
  const failure = (await run(skill).catch((error: unknown) => error)) as Error & { code: string };
  expect(failure.code).toBe('environment');
  const told = JSON.parse(failure.message) as Record<string, string>;
  expect(Object.keys(told).sort()).toEqual([
    'AGENT_ID',
    'LANG',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_ODD_MODE',
    'OTEL_SERVICE_NAME',
    // By it processes are found that have left their group.
    'PARLEY_SHELL_CALL',
    'PATH',
  ]);
  expect(told).toMatchObject({ OTEL_SERVICE_NAME: 'agent-b-review', LANG: 'C' });
  expect(told['AGENT_ID']).toMatch(/^agent_.*\.review$/u);
});
