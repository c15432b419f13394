import { jest } from '@jest/globals';
import { DriveStage } from './drive-stage.test-helper.js';
import type { PlayedTurn } from './index.js';
import { bash, type FakeProxy } from './fake-proxy.test-helper.js';

// Long enough for a loaded machine.
jest.setTimeout(30_000);

let stage: DriveStage;
let proxy: FakeProxy;

beforeEach(async () => {
  stage = new DriveStage();
  ({ proxy } = stage);
  await proxy.start();
});

afterEach(() => stage.close());

describe('a turn', () => {
  async function played(play: (turn: PlayedTurn) => Promise<void>): Promise<void> {
    let thrown: unknown;
    const running = stage.driving(
      async (turn) => {
        await play(turn).catch((error: unknown) => {
          thrown = error;
        });
        if (turn.outcome === undefined) await turn.reply('');
      },
      { maxTurns: 1 },
    );
    await proxy.called('next');
    if (proxy.turns.length === 0) proxy.open('t');
    await running;
    if (thrown !== undefined) throw thrown;
  }

  it('is recorded once, whether the answer was lost before or after the proxy had it', async () => {
    await played(async (turn) => {
      proxy.fault('record', 'cut after');
      await turn.record({ message: 'one' });
      proxy.fault('record', 'cut before');
      await turn.record({ message: 'two' });
      proxy.fault('record', { status: 503, body: 'not now' });
      await turn.record({ message: 'three' });
    });
    expect(proxy.records.get('t')).toEqual(['one', 'two', 'three']);
  });

  it('runs an action once, whatever becomes of the answers', async () => {
    let runs = 0;
    proxy.onAct = () => {
      runs += 1;
      return undefined;
    };
    await played(async (turn) => {
      proxy.fault('act', 'cut after', 'cut after', 'cut after', 'cut after');
      proxy.fault('result', 'cut before');
      const acting = turn.act({ kind: 'bash', command: 'x' });
      await proxy.called('act', 5);
      await proxy.called('result');
      const [actionId = ''] = proxy.actions.keys();
      proxy.finish(actionId, bash('', 3));
      expect(await acting).toMatchObject({ exitCode: 3 });
    });
    expect(runs).toBe(1);
  });

  it.each([true, false])('tells what a running command writes (the proxy can: %p)', async (can) => {
    proxy.tellsOutput = can;
    proxy.onAct = () => undefined;
    const told: string[] = [];
    await played(async (turn) => {
      const acting = turn.act(
        { kind: 'bash', command: 'x' },
        {
          onRunning: ({ output }) => {
            told.push(output?.stdout ?? 'still running');
            const [actionId = ''] = proxy.actions.keys();
            if (told.length === 3) proxy.finish(actionId, bash('all'));
          },
        },
      );
      expect(await acting).toMatchObject({ stdout: 'all' });
    });
    expect(told).toEqual(can ? ['still running', '0;', '1;'] : ['still running', 'still running', 'still running']);
    expect(proxy.calls.filter(({ op, body }) => op === 'result' && 'after' in body)).toHaveLength(can ? 3 : 1);
  });

  it('counts as gone if its answer comes too late, and when an earlier try had ended it', async () => {
    await played(async (turn) => {
      proxy.fault('reply', 'cut after');
      expect(await turn.reply('once')).toBe(false);
    });
    expect(proxy.replies).toEqual([{ task: 't', answer: 'once' }]);
    expect(stage.ends()).toEqual([{ how: 'gone', reason: "no open turn 't'" }]);
  });

  it('goes on where its record is for others', async () => {
    await played(async (turn) => {
      proxy.fault('trajectory', { status: 401, body: 'the control token is missing or wrong' });
      await expect(turn.events()).rejects.toMatchObject({ name: 'ProxyFailed', status: 401 });
      expect([turn.outcome, await turn.reply('played')]).toEqual([undefined, true]);
    });
  });

  it('that was open before tells what was begun', async () => {
    proxy.open('t', 'go on', {
      pending_calls: [{ id: 'c1', name: 'bash', arguments: { command: 'ls' } }],
      actions: [{ action_id: 'a1', done: false, action: { kind: 'bash', command: 'sleep 1' } }],
    });
    proxy.actions.set('a1', { task: 't', state: { done: true, result: bash('slept') } });
    await played(async (turn) => {
      expect(turn.wasOpenBefore).toBe(true);
      expect(turn.turn.pendingCalls).toEqual([{ id: 'c1', name: 'bash', arguments: { command: 'ls' } }]);
      expect(await turn.result('a1')).toMatchObject({ stdout: 'slept' });
      // Nobody knows how many calls are on record, so one in doubt is not made again blindly.
      proxy.fault('record', 'cut after');
      await expect(turn.record({ message: 'x' })).rejects.toMatchObject({ code: 'record_in_doubt' });
      expect(await turn.events()).toHaveLength(1);
      proxy.fault('record', 'cut after');
      await turn.record({ message: 'y' });
      expect(proxy.records.get('t')).toEqual(['x', 'y']);
    });
  });
});
