import { silentLogger } from '@parley/service-kit';
import type { Fact } from '../domain/facts.js';
import { ProxyState } from '../domain/proxy-state.js';
import { NoFactLog } from '../journal/fact-log.js';
import type { Recorder } from '../record/recorder-types.js';
import { ListLog, until } from './engine.test-helper.js';
import { FactKeeper } from './fact-keeper.js';

const started = (version: number): Fact => ({ kind: 'started', at: 1, version });

function keeperOf(log: ListLog | NoFactLog, observe: Recorder['observe'] = () => undefined) {
  const state = new ProxyState();
  const recorder: Recorder = {
    observe,
    whole: () => [],
    page: () => {
      throw new Error('not asked');
    },
    close: () => Promise.resolve(),
  };
  return { state, keeper: new FactKeeper(log, state, recorder, silentLogger) };
}

describe('FactKeeper', () => {
  it('applies a fact once it is written; at once where nothing is', async () => {
    const log = new ListLog();
    const { state, keeper } = keeperOf(log);
    const kept = keeper.keep('proxy', started(3));
    expect(state.version).toBe(0);
    await kept;
    expect(state.version).toBe(3);
    const instant = keeperOf(new NoFactLog());
    expect([instant.keeper.keep('proxy', started(3)), instant.state.version]).toEqual([undefined, 3]);
  });

  it('applies versions in their order, whichever is written first, and goes on after one that failed', async () => {
    const log = new ListLog();
    const first = Promise.withResolvers<undefined>();
    log.before = (fact) => ('version' in fact && fact.version === 1 ? first.promise : undefined);
    log.fails = (fact) => 'version' in fact && fact.version === 2;
    log.failing = true;
    const applied: number[] = [];
    const { state, keeper } = keeperOf(log, (fact) => applied.push('version' in fact ? (fact.version ?? 0) : 0));
    const three = [1, 2, 3].map(() => Promise.resolve(keeper.keepVersioned('proxy', started)));
    const settled = Promise.allSettled(three);
    await until(() => log.kept.length > 0);
    expect([applied, state.version]).toEqual([[], 0]);
    first.resolve(undefined);
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([applied, state.version]).toEqual([[1, 3], 3]);
    await keeper.keepVersioned('proxy', started);
    expect(state.version).toBe(4);
  });

  it('tries again what happened already, until it is stopped', async () => {
    const log = new ListLog();
    const { state, keeper } = keeperOf(log);
    log.failing = true;
    const kept = keeper.untilKept(() => keeper.keep('proxy', started(1)));
    await new Promise(setImmediate);
    log.failing = false;
    await kept;
    expect(state.version).toBe(1);
    log.failing = true;
    const never = keeper.untilKept(() => keeper.keep('proxy', started(2)));
    const refused = expect(never).rejects.toMatchObject({ status: 503 });
    keeper.stop();
    await refused;
    expect([state.version, await keeper.pause(1000)]).toEqual([1, false]);
  });

  it('goes on when a fact cannot be recorded', async () => {
    const { state, keeper } = keeperOf(new ListLog(), () => {
      throw new Error('no span');
    });
    await keeper.keep('proxy', started(1));
    expect(state.version).toBe(1);
  });
});
