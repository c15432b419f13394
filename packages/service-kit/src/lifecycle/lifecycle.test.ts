import { recordingLogger } from '../http/http.test-helper.js';
import { runPhases, type ShutdownPhase } from './lifecycle.js';

const never = (): Promise<void> => new Promise(() => undefined);

describe('phases', () => {
  it('run one after the other, the later ones also after a failure and after a time-out', async () => {
    const order: string[] = [];
    const phase = (name: string, run: () => Promise<void> | void): ShutdownPhase => ({
      name,
      timeoutMs: 20,
      run: () => {
        order.push(name);
        return run();
      },
    });
    const { logger, lines } = recordingLogger();
    const results = await runPhases(
      [
        phase('deregister', async () => {
          await Promise.resolve();
          order.push('deregistered');
        }),
        phase('listeners', async () => Promise.reject(new Error('busy'))),
        phase('force', () => {
          throw new Error('at once');
        }),
        phase('store', never),
        phase('telemetry', () => undefined),
      ],
      logger,
    );
    expect(order).toEqual(['deregister', 'deregistered', 'listeners', 'force', 'store', 'telemetry']);
    expect(results.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['deregister', 'done'],
      ['listeners', 'failed'],
      ['force', 'failed'],
      ['store', 'timed_out'],
      ['telemetry', 'done'],
    ]);
    for (const { durationMs } of results) expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(lines.map(({ level, phase: name }) => [level, name])).toEqual([
      ['info', 'deregister'],
      ['error', 'listeners'],
      ['error', 'force'],
      ['error', 'store'],
      ['info', 'telemetry'],
    ]);
    expect(lines[1]).toMatchObject({ error: { message: 'busy' }, duration_ms: expect.any(Number) });
  });

  it('that fail after they were given up hurt nobody', async () => {
    let fail: ((error: Error) => void) | undefined;
    const run = (): Promise<void> => new Promise((_, reject) => (fail = reject));
    const { logger } = recordingLogger();
    expect(await runPhases([{ name: 'store', timeoutMs: 5, run }], logger)).toMatchObject([{ outcome: 'timed_out' }]);
    fail?.(new Error('too late'));
    await new Promise(setImmediate);
  });
});
