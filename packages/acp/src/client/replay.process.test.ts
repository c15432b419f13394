import { isDeepStrictEqual } from 'node:util';
import { jest } from '@jest/globals';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import type { SubagentResult, SubagentUpdate } from '@parley/harness';
import { allUpdates, firstText, MockAgents, request } from '../testing/mock-agents.js';
import type { MockScript } from '../testing/mock/script.mjs';
import { TrafficRecorder } from '../wire/index.js';
import { AcpSubagentProvider, replayChildren, type AcpSubagentOptions } from './index.js';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(30_000);

const ANSWER = [
  { thought: 'hm' },
  { text: 'I look.', messageId: 'm1' },
  { tool: 'c1', title: 'Read a file' },
  { ask: ['allow_once', 'reject_once'] },
  { toolUpdate: 'c1', status: 'completed' },
  { together: [{ text: 'It is ', messageId: 'm2' }, { text: '42.', messageId: 'm2' }, { answer: 'end_turn' }] },
];
const HANGS = [{ text: 'I begin' }, { untilCancel: true }, { text: ', I end' }, { answer: 'cancelled' }];

interface Told {
  readonly result: SubagentResult;
  readonly updates: readonly SubagentUpdate[];
}

describe('the record of a run', () => {
  let agents: MockAgents;
  let lines: string[];
  let record: TrafficRecorder;

  beforeEach(() => {
    agents = new MockAgents();
    lines = [];
    record = new TrafficRecorder({ onLine: (line) => lines.push(line) });
  });

  afterEach(async () => {
    expect(await agents.close()).toEqual([]);
  });

  const recording = (): string => lines.join('\n');

  async function recorded(script: MockScript, more: Partial<AcpSubagentOptions> = {}): Promise<Told> {
    return follow(agents.provider(script, { record, ...more }));
  }

  /** Plays what was recorded. There is no such program, and no process. */
  function player(
    more: Partial<AcpSubagentOptions> = {},
    isSame?: (recorded: AnyMessage, actual: AnyMessage) => boolean,
  ) {
    const options = {
      ...agents.options({}),
      command: '/nowhere/agent',
      deadlines: { cancelGraceMs: 500 },
    };
    return new AcpSubagentProvider(
      { ...options, ...more },
      replayChildren(recording(), isSame === undefined ? {} : { isSame }),
    );
  }

  it('is played without a process, and comes to the same', async () => {
    const told = await recorded({ prompts: [ANSWER] });
    const starts = agents.count('start');
    expect(await follow(player())).toEqual(told);
    expect(told.result).toEqual({ stopReason: 'completed', output: 'It is 42.' });
    expect(agents.count('start')).toBe(starts);
  });

  it.each([
    ['max-tokens', [{ text: 'a' }, { answer: 'max_tokens' }]],
    ['refusal', [{ text: 'b' }, { answer: 'refusal' }]],
    ['error', [{ text: 'c' }, { error: { code: -32603, message: 'no luck' } }]],
    ['error', [{ text: 'd' }, { answer: 'unheard-of' }]],
  ])('comes to the same when the child ends with %s', async (stopReason, steps) => {
    const told = await recorded({ prompts: [steps] });
    expect(told.result.stopReason).toBe(stopReason);
    expect(await follow(player())).toEqual(told);
  });

  it('comes to the same when it is cancelled', async () => {
    const provider = agents.provider({ prompts: [HANGS] }, { record, deadlines: { cancelGraceMs: 10_000 } });
    const told = await cancelled(provider);
    expect(told).toMatchObject({ stopReason: 'aborted', output: 'I begin, I end' });
    expect(await cancelled(player())).toEqual(told);
  });

  it('comes to an error when the child died in its prompt', async () => {
    const { result } = await recorded({ prompts: [[{ text: 'hi' }, { exit: 3 }]] });
    const { result: played } = await follow(player());
    expect([result, played].map(({ stopReason, output }) => [stopReason, output])).toEqual([
      ['error', 'hi'],
      ['error', 'hi'],
    ]);
  });

  it('is refused at the start when the child refused there', async () => {
    const script = { newSession: [{ error: { code: -32000, message: 'Authentication required' } }] };
    await expect(recorded(script)).rejects.toMatchObject({ code: 'acp_auth_required' });
    await expect(follow(player())).rejects.toMatchObject({ code: 'acp_auth_required' });
  });

  it('of several children plays them one after the other', async () => {
    const first = await recorded({ prompts: [[{ text: 'one' }, { answer: 'end_turn' }]] });
    const second = await recorded({ prompts: [[{ text: 'two' }, { answer: 'refusal' }]] });
    const provider = player();
    expect([await follow(provider), await follow(provider)]).toEqual([first, second]);
  });

  it('of a warm child plays all its runs', async () => {
    const pool = { size: 1, idleMs: 20_000 };
    const script = {
      prompts: [
        [{ text: 'one' }, { answer: 'end_turn' }],
        [{ text: 'two' }, { answer: 'end_turn' }],
      ],
    };
    const real = agents.provider(script, { record, pool });
    const told = [await follow(real), await follow(real)];
    const provider = player({ pool });
    expect([await follow(provider), await follow(provider)]).toEqual(told);
    await provider.close();
  });

  it('ends as aborted with a cancel that was not recorded', async () => {
    await recorded({ prompts: [[{ text: 'hi' }, { answer: 'end_turn' }]] });
    lines = lines.filter((line) => !line.includes('"stopReason"'));
    expect((await cancelled(player())).stopReason).toBe('aborted');
  });

  it('fails with its line at another answer, another prompt or another folder, if that is wanted', async () => {
    await recorded({ prompts: [ANSWER] });
    const isSame = (one: AnyMessage, other: AnyMessage): boolean => isDeepStrictEqual(contentOf(one), contentOf(other));
    expect((await follow(player({}, isSame))).result.stopReason).toBe('completed');

    const { result } = await follow(player({ permission: 'allow' }, isSame));
    expect(result).toMatchObject({ stopReason: 'error', diagnostic: expect.stringMatching(/differs from line \d+/u) });
    const other = await player({}, isSame)
      .start(request(undefined, 'Do something else.'))
      .then(
        ({ result: late }) => late,
        (error: unknown) => ({ diagnostic: (error as Error).message }),
      );
    expect(other.diagnostic).toMatch(/differs from line \d+/u);
    await expect(follow(player({ cwd: '/elsewhere' }, isSame))).rejects.toThrow(/differs from line \d+/u);
  });

  it('fails when there is nothing more of it', async () => {
    await recorded({ prompts: [[{ text: 'hi' }, { answer: 'end_turn' }]] });
    const provider = player();
    await follow(provider);
    await expect(follow(provider)).rejects.toThrow(/no child number 2/u);
  });

  it('has nothing of the environment of the child', async () => {
    const secret = 'given-secret-4711';
    await recorded({ prompts: [ANSWER] }, { env: { SERVICE_PASSWORD: secret } });
    expect(recording()).toContain('session/prompt');
    expect(recording()).not.toContain(secret);
  });
});

async function follow(provider: AcpSubagentProvider): Promise<Told> {
  const run = await provider.start(request());
  const updates = await allUpdates(run);
  const result = await run.result;
  await run.dispose();
  return { result, updates };
}

async function cancelled(provider: AcpSubagentProvider): Promise<SubagentResult> {
  const run = await provider.start(request());
  await firstText(run);
  run.cancel('enough');
  const result = await run.result;
  await run.dispose();
  return result;
}

function contentOf(message: AnyMessage): unknown {
  const { params, result } = message as { params?: unknown; result?: unknown };
  return params ?? result;
}
