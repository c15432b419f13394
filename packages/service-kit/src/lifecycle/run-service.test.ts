import { startProcess, type RunningProcess } from '@parley/testkit';
import { compile, fixtures } from '../compiled.test-helper.js';

beforeAll(compile, 120_000);

function start(env: Record<string, string> = {}, readyWhen = /^serving$/): Promise<RunningProcess> {
  return startProcess({
    command: process.execPath,
    args: [fixtures.phases],
    env,
    readyWhen,
  });
}

const phases = (service: RunningProcess): string[] =>
  service.stdout.filter((line) => line.startsWith('phase ')).map((line) => line.slice(6));
const logged = (service: RunningProcess): Record<string, unknown>[] =>
  service.stdout.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
const messages = (service: RunningProcess): unknown[] => logged(service).map(({ msg }) => msg);

describe('a service that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s runs its phases in order and exits with 0, its last lines written',
    async (signal) => {
      const service = await start();
      service.kill(signal);
      expect(await service.exited).toEqual({ code: 0, signal: null });
      expect(phases(service)).toEqual(['second', 'first']);
      expect(messages(service)).toEqual([`received ${signal}, stopping`, 'stopped: second', 'stopped: first']);
    },
  );

  it.each(['fails', 'hangs'])('exits with 1 when a phase %s', async (how) => {
    const service = await start({ FIRST: how });
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(phases(service)).toEqual(['second', 'first']);
  });

  it('exits at once with 1 at the second signal', async () => {
    const service = await start({ FIRST: 'hangs' });
    service.kill('SIGTERM');
    await service.waitForLine(/^phase first$/);
    const started = performance.now();
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 1, signal: null });
    // The phase would have been given up only after its own time.
    expect(messages(service)).not.toContain('not stopped in order: first timed_out');
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('while it is starting stops what had started and exits with 0', async () => {
    const service = await start({ START: 'hangs' }, /^starting$/);
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(phases(service)).toEqual(['first']);
  });

  it('still exits when its phases cannot be told', async () => {
    const service = await start({ PHASES: 'throws' });
    service.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 1, signal: null });
  });

  it.each(['fails', 'hangs'])(
    'exits with 0, in bounded time, when the last spans cannot be delivered: telemetry %s',
    async (how) => {
      const service = await start({ TELEMETRY: how });
      service.kill('SIGTERM');
      const started = performance.now();
      expect(await service.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - started).toBeLessThan(3_000);
      expect(logged(service).filter(({ level }) => level === 'error')).toEqual([]);
      expect(messages(service)).toContain('the last spans were not delivered');
    },
  );
});

describe('a service that cannot go on', () => {
  it('exits with 1 when its start fails, after stopping what had started', async () => {
    const service = await start({ START: 'fails' }, /^starting$/);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(phases(service)).toEqual(['first']);
    expect(logged(service)[0]).toMatchObject({
      level: 'error',
      msg: 'the start failed',
      error: { message: 'this phase fails' },
    });
  });

  it('does not exit before the line that says why is written', async () => {
    const service = await start({ START: 'fails', BUSY: '1', UV_THREADPOOL_SIZE: '1' }, /^starting$/);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(messages(service)).toEqual(['the start failed', 'stopped: first']);
  });

  it.each([
    ['throws', 'uncaught exception'],
    ['rejects', 'unhandled rejection'],
  ])('stops in order and exits with 1 when something %s and nobody catches it', async (how, message) => {
    const service = await start({ LATER: how });
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(phases(service)).toEqual(['second', 'first']);
    expect(logged(service)[0]).toMatchObject({ msg: message, error: { message: 'nobody caught this' } });
  });

  it('exits with 2 for a wrong environment, naming each variable without its value', async () => {
    const service = await start({ PROBE_PORT: 'sw0rdfish-port', PROBE_TOKEN: 'sw0rdfish' }, /PROBE_TOKEN/);
    expect(await service.exited).toEqual({ code: 2, signal: null });
    expect(service.stderr.join('\n')).toMatch(/PROBE_PORT: must be a whole number\n.*PROBE_TOKEN: must be 22 to 256/);
    expect(service.output()).not.toContain('sw0rdfish');
    expect(service.output()).not.toMatch(/\bat .*:\d+:\d+/);
  });
});
