import { getEventListeners } from 'node:events';
import { jest } from '@jest/globals';
import { type ProxyClient, ProxyRefused, ProxyUnauthorized, TurnGone } from '../client/index.js';
import { DriveStage, TOKEN } from './drive-stage.test-helper.js';
import type { PlayedTurn } from './index.js';
import { type FakeProxy } from './fake-proxy.test-helper.js';

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

const answering = async (turn: PlayedTurn): Promise<void> => {
  await turn.reply(`answer to ${turn.turn.texts.join()}`);
};

describe('drive', () => {
  it('plays turns as they open and ends after the last one that it was to play', async () => {
    const running = stage.driving(answering, { maxTurns: 2 });
    await proxy.called('next');
    proxy.open('t1', 'one');
    await proxy.until(() => proxy.replies.length === 1);
    proxy.open('t2', 'two');
    expect(await running).toEqual({ turns: 2, left: [] });
    expect(proxy.replies.map(({ answer }) => answer)).toEqual(['answer to one', 'answer to two']);
    expect(stage.events.map(({ kind }) => kind)).toEqual([
      'claimed',
      'turn_started',
      'turn_ended',
      'turn_started',
      'turn_ended',
    ]);
  });

  it('plays several turns at once, and no more than it may', async () => {
    let now = 0;
    let most = 0;
    const gate = Promise.withResolvers<undefined>();
    for (const id of ['a', 'b', 'c', 'd', 'e']) proxy.open(id);
    const running = stage.driving(
      async (turn) => {
        now += 1;
        most = Math.max(most, now);
        if (now === 3) gate.resolve(undefined);
        await gate.promise;
        now -= 1;
        await turn.reply('');
      },
      { maxConcurrentTurns: 3, maxTurns: 5 },
    );
    await running;
    expect(most).toBe(3);
    expect(proxy.replies).toHaveLength(5);
  });

  it('stops the player of a turn that vanishes', async () => {
    const started = Promise.withResolvers<undefined>();
    const stopped = Promise.withResolvers<unknown>();
    proxy.open('t');
    const running = stage.driving(
      async (turn) => {
        turn.signal.addEventListener('abort', () => stopped.resolve(turn.signal.reason));
        started.resolve(undefined);
        await stopped.promise;
      },
      { maxTurns: 1 },
    );
    await started.promise;
    proxy.close('t');
    expect(await stopped.promise).toBeInstanceOf(TurnGone);
    await running;
    expect(stage.ends()).toEqual([{ how: 'gone', reason: 'the turn is over' }]);
    expect(proxy.replies).toEqual([]);
  });

  it('does not play a turn again that a list made before still names', async () => {
    let played = 0;
    const stop = new AbortController();
    const running = stage.driving(
      async (turn) => {
        played += 1;
        await turn.reply('');
        // The turn is back for a moment, as in a list that was on its way.
        proxy.turns.push({ task_id: 't', context_id: 'c', parts: [] });
        proxy.open('u');
        proxy.close('u');
        stop.signal.addEventListener('abort', () => undefined);
      },
      { signal: stop.signal },
    );
    proxy.open('t');
    await proxy.until(() => proxy.replies.length === 1);
    await proxy.called('next', 5);
    stop.abort();
    await running;
    expect(played).toBe(1);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no model')), 'no model'],
    ['gives no answer', () => Promise.resolve(), 'the driver gave no answer'],
  ])('fails a turn whose player %s', async (_what, play, error) => {
    proxy.open('t');
    await stage.driving(play, { maxTurns: 1 });
    expect(proxy.replies).toEqual([{ task: 't', answer: `error: ${error}` }]);
    expect(stage.ends()).toEqual([{ how: 'failed', error }]);
  });

  it('fails a turn that takes too long', async () => {
    proxy.open('t');
    const play = (turn: PlayedTurn): Promise<void> =>
      new Promise((_resolve, reject) => turn.signal.addEventListener('abort', () => reject(new Error('stopped'))));
    await stage.driving(play, { maxTurns: 1, turnMs: 50 });
    expect(proxy.replies).toEqual([{ task: 't', answer: 'error: the driver had no more time for the turn' }]);
  });

  it('leaves open turns open when it is stopped, also those whose players do not end', async () => {
    proxy.open('good');
    proxy.open('stubborn');
    const stop = new AbortController();
    const running = stage.driving(
      (turn) =>
        new Promise((resolve) => {
          if (turn.turn.taskId === 'good') turn.signal.addEventListener('abort', () => resolve());
        }),
      { signal: stop.signal, graceMs: 50 },
    );
    await proxy.until(() => stage.events.length === 3);
    stop.abort();
    expect(await running).toEqual({ turns: 2, left: ['good', 'stubborn'] });
    expect(proxy.replies).toEqual([]);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('plays what is in play to its end when it drains, and takes nothing more', async () => {
    const gate = Promise.withResolvers<undefined>();
    const drain = new AbortController();
    proxy.open('t');
    const running = stage.driving(
      async (turn) => {
        await gate.promise;
        await turn.reply('late');
      },
      { drain: drain.signal },
    );
    await proxy.until(() => stage.events.length === 2);
    drain.abort();
    proxy.open('u');
    await proxy.called('next', 2);
    gate.resolve(undefined);
    expect(await running).toEqual({ turns: 1, left: [] });
    expect(proxy.replies).toEqual([{ task: 't', answer: 'late' }]);
    expect(getEventListeners(drain.signal, 'abort')).toHaveLength(0);
  });

  it("ends if the proxy is another's", async () => {
    proxy.token = 'somebody-else-has-this-one';
    await expect(stage.driving(answering)).rejects.toBeInstanceOf(ProxyRefused);
  });

  it('does not ask in a circle where nothing waits', async () => {
    const stop = new AbortController();
    let asked = 0;
    const client = {
      claim: () => Promise.resolve(),
      next: () => {
        asked += 1;
        return Promise.resolve({ version: 1, turns: [] });
      },
    } as unknown as ProxyClient;
    const running = stage.driving(answering, { client, signal: stop.signal });
    const timer = setTimeout(() => stop.abort(), 400);
    await running;
    clearTimeout(timer);
    expect(asked).toBeLessThan(6);
  });
});

describe('a proxy that goes away', () => {
  it('and comes back with what it knew: its turns are played on, and an action that was lost is told', async () => {
    proxy.onAct = () => undefined;
    proxy.open('t');
    const acting = Promise.withResolvers<unknown>();
    const running = stage.driving(
      async (turn) => {
        const result = await turn.act({ kind: 'bash', command: 'sleep 9' });
        acting.resolve(result);
        await turn.reply('went on');
      },
      { maxTurns: 1 },
    );
    await proxy.called('act');
    await proxy.stop();
    const [actionId = ''] = proxy.actions.keys();
    proxy.finish(actionId, { kind: 'bash', stdout: '', stderr: 'lost', timed_out: false });
    proxy.version += 10;
    await proxy.start();
    expect(await acting.promise).toEqual({
      kind: 'bash',
      stdout: '',
      stderr: 'lost',
      timedOut: false,
      truncated: false,
    });
    await running;
    expect(proxy.replies).toEqual([{ task: 't', answer: 'went on' }]);
    expect(proxy.actions.size).toBe(0);
    expect(proxy.calls.filter(({ op }) => op === 'claim')).toHaveLength(1);
  });

  it('and comes back without: it is claimed again, its turns are gone, new ones are played', async () => {
    const stopped = Promise.withResolvers<unknown>();
    proxy.open('old');
    const running = stage.driving(
      async (turn) => {
        if (turn.turn.taskId === 'new') {
          await turn.reply('played');
          return;
        }
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        stopped.resolve(turn.signal.reason);
      },
      { maxTurns: 2 },
    );
    await proxy.until(() => stage.events.length === 2);
    await proxy.stop();
    proxy.forget();
    await proxy.start();
    await proxy.until(() => proxy.token !== undefined);
    proxy.open('new');
    expect(await stopped.promise).toBeInstanceOf(TurnGone);
    expect(await running).toEqual({ turns: 2, left: [] });
    expect(proxy.replies).toEqual([{ task: 'new', answer: 'played' }]);
    expect(proxy.token).toBe(TOKEN);
    expect(stage.events).toContainEqual({ kind: 'claimed', isAgain: true });
    const kinds = stage.events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'away').length).toBeLessThanOrEqual(1);
  });

  it('and was claimed by another meanwhile: it ends', async () => {
    const running = stage.driving(answering);
    const ended = expect(running).rejects.toThrow('this proxy is already claimed');
    await proxy.called('next');
    await proxy.stop();
    proxy.forget();
    proxy.token = 'somebody-else-has-this-one';
    await proxy.start();
    await ended;
  });

  it('and comes back without, where it is not to be claimed again: it ends, and its turns stay open', async () => {
    proxy.open('t');
    const running = stage.driving(
      async (turn) => {
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
      },
      { reclaims: false },
    );
    const ended = expect(running).rejects.toThrow(ProxyUnauthorized);
    await proxy.until(() => stage.events.length === 2);
    await proxy.stop();
    proxy.token = undefined;
    await proxy.start();
    await ended;
    expect([proxy.token, stage.ends()]).toEqual([undefined, [{ how: 'left' }]]);
  });

  it('is claimed as soon as it is there, and as if for the first time', async () => {
    proxy.fault('claim', 'cut before', { status: 503, body: 'not yet' });
    proxy.open('t');
    expect(await stage.driving(answering, { maxTurns: 1, reclaims: false })).toEqual({ turns: 1, left: [] });
    expect(stage.events.filter(({ kind }) => kind === 'claimed')).toEqual([{ kind: 'claimed', isAgain: false }]);
  });

  it('and does not come back: it is given up after a while', async () => {
    const running = stage.driving(answering, { patienceMs: 300 });
    const ended = expect(running).rejects.toThrow(/cannot be reached/u);
    await proxy.called('next');
    await proxy.stop();
    await ended;
    expect(stage.events.filter(({ kind }) => kind === 'away')).toHaveLength(1);
  });

  it('is not to be claimed again, and forgets the claim in the middle of a call: the turn is left', async () => {
    proxy.open('t');
    const running = stage.driving(
      async (turn) => {
        proxy.token = 'of-the-next-driver-after-this-one';
        await turn.act({ kind: 'bash', command: 'ls' });
      },
      { reclaims: false },
    );
    await expect(running).rejects.toThrow(ProxyUnauthorized);
    expect(stage.ends()).toEqual([{ how: 'left' }]);
  });

  it('forgets a turn in the middle of a call: its player hears that the turn is gone', async () => {
    proxy.open('t');
    const thrown = Promise.withResolvers<unknown>();
    await stage.driving(
      async (turn) => {
        proxy.fault('act', { status: 401, body: "the driver's token is missing or wrong" });
        await turn.act({ kind: 'bash', command: 'ls' }).catch((error: unknown) => thrown.resolve(error));
      },
      { maxTurns: 1 },
    );
    expect(await thrown.promise).toBeInstanceOf(TurnGone);
    expect(stage.ends()).toEqual([{ how: 'gone', reason: 'the proxy has forgotten the turn' }]);
  });
});
