import { getEventListeners } from 'node:events';
import { RunChain } from './run-chain.js';
import { AgentShutDownError } from './run-errors.js';

const nothing = (): undefined => undefined;

describe('the gate in front of an agent', () => {
  it('lets the first operation in before run() returns', async () => {
    const chain = new RunChain();
    const log: string[] = [];
    const run = chain.run(() => Promise.resolve(log.push('began')), nothing);
    expect(log).toEqual(['began']);
    expect(chain.isBusy).toBe(true);
    await run;
    expect(chain.isBusy).toBe(false);
  });

  it('opens in the order of arrival, and for nobody in between', async () => {
    const chain = new RunChain();
    const log: number[] = [];
    const enter = (id: number): Promise<number> => chain.run(async () => log.push(id), nothing);
    const first = enter(1);
    const second = enter(2);
    await first;
    // The gate was handed to the second one, which has not gone through yet.
    const third = enter(3);
    await Promise.all([second, third]);
    expect(log).toEqual([1, 2, 3]);
  });

  it('opens after an operation that failed', async () => {
    const chain = new RunChain();
    const failed = chain.run(() => Promise.reject(new Error('x')), nothing);
    const next = chain.run(() => Promise.resolve('ran'), nothing);
    await expect(failed).rejects.toThrow('x');
    expect(await next).toBe('ran');
  });

  it('is left by who gives up, without a listener staying behind', async () => {
    const chain = new RunChain();
    const hold = Promise.withResolvers<null>();
    const first = chain.run(() => hold.promise, nothing);
    const caller = new AbortController();
    const second = chain.run(() => Promise.reject(new Error('must not run')), nothing, caller.signal);
    const third = chain.run(() => Promise.resolve('third'), nothing);
    caller.abort(new Error('gave up'));
    await expect(second).rejects.toThrow('gave up');
    await expect(chain.run(() => Promise.resolve(), nothing, caller.signal)).rejects.toThrow('gave up');
    hold.resolve(null);
    await first;
    expect(await third).toBe('third');
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  });

  it('turns away who waits once it is closed, also who was let in at that moment', async () => {
    const chain = new RunChain();
    const hold = Promise.withResolvers<null>();
    // The gate opens in the same tick, but who waits goes through only after that.
    const closeSoon = (): undefined => queueMicrotask(() => chain.close()) as undefined;
    const first = chain.run(() => hold.promise, closeSoon);
    const second = chain.run(() => Promise.reject(new Error('must not run')), nothing);
    const turnedAway = expect(second).rejects.toBeInstanceOf(AgentShutDownError);
    const third = chain.run(() => Promise.resolve(), nothing);
    const turnedAwayToo = expect(third).rejects.toBeInstanceOf(AgentShutDownError);
    hold.resolve(null);
    await first;
    await Promise.all([turnedAway, turnedAwayToo, chain.idle()]);
    await expect(chain.run(() => Promise.resolve(), nothing)).rejects.toBeInstanceOf(AgentShutDownError);
  });

  it('is idle when the last follow-up is over, and tells of that one afterwards', async () => {
    const chain = new RunChain();
    const log: string[] = [];
    const followUps = ['a', 'b'];
    const next = () => {
      const name = followUps.shift();
      if (name === undefined) return undefined;
      return () => Promise.resolve(() => void log.push(`${name} ${chain.isBusy ? 'busy' : 'idle'}`));
    };
    await chain.run(() => Promise.resolve(), next);
    await chain.idle();
    expect(log).toEqual(['a busy', 'b idle']);
  });
});
