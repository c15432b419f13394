import { join } from 'node:path';
import { composeStack, eventually, waitFor, type ComposeStack } from '@parley/testkit';

const directory = join(import.meta.dirname, '..', '..');
const TRACE_ID = '5b8efff798038103d269b633813fc60c';

/** Starting and stopping containers takes seconds on a busy machine. */
const PATIENCE_MS = 120_000;

describe('the services behind ours', () => {
  let stack: ComposeStack;

  beforeAll(async () => {
    stack = await composeStack({ directory, services: ['redis', 'otel-collector', 'jaeger'], build: false });
  }, PATIENCE_MS);

  afterAll(async () => {
    await stack.down();
  }, PATIENCE_MS);

  it(
    'let a span through the collector to Jaeger',
    async () => {
      const time = `${String(Date.now())}000000`;
      const span = { traceId: TRACE_ID, spanId: 'eee19b7ec3c1b174', name: 'probe', kind: 1 };
      const response = await fetch(`${stack.url('otel-collector', 4318)}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          resourceSpans: [
            {
              resource: { attributes: [{ key: 'service.name', value: { stringValue: 'probe' } }] },
              scopeSpans: [{ spans: [{ ...span, startTimeUnixNano: time, endTimeUnixNano: time }] }],
            },
          ],
        }),
      });
      expect(response.status).toBe(200);
      await eventually(
        async () => {
          const found = await fetch(`${stack.url('jaeger', 16686)}/api/traces/${TRACE_ID}`);
          expect(found.status).toBe(200);
          const { data } = (await found.json()) as { data: { spans: { operationName: string }[] }[] };
          expect(data[0]?.spans.map(({ operationName }) => operationName)).toEqual(['probe']);
        },
        { timeoutMs: 30_000, intervalMs: 250, what: 'the span in Jaeger' },
      );
    },
    PATIENCE_MS,
  );

  it(
    'run Redis so that it never drops a record by itself',
    async () => {
      const read = async (name: string) =>
        (await stack.exec('redis', ['redis-cli', 'config', 'get', name])).output.trim().split('\n').at(-1);
      expect(await read('maxmemory-policy')).toBe('noeviction');
      expect(await read('appendonly')).toBe('yes');
      expect(Number(await read('maxmemory'))).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );

  it(
    'keep the records when Redis is killed and starts again',
    async () => {
      await stack.exec('redis', ['redis-cli', 'set', 'record', 'kept']);
      await stack.kill('redis');
      await waitFor(async () => (await stack.compose('ps', '--status', 'exited', '--services')).includes('redis'), {
        timeoutMs: 20_000,
      });
      await stack.compose('up', '--detach', '--no-build', '--wait', 'redis');
      expect((await stack.exec('redis', ['redis-cli', 'get', 'record'])).output).toBe('kept\n');
    },
    PATIENCE_MS,
  );

  it(
    'give the exit code and output of a command that fails',
    async () => {
      expect(await stack.exec('redis', ['sh', '-c', 'echo out; exit 3'])).toEqual({ exitCode: 3, output: 'out\n' });
    },
    PATIENCE_MS,
  );

  it(
    'are asked for by names that exist',
    async () => {
      await expect(stack.logs('redsi')).rejects.toThrow(/no such service: redsi; the compose file has/u);
      expect(() => stack.port('redis', 6379)).toThrow('port 6379 of redis is not published');
      await expect(composeStack({ directory, services: ['redsi'] })).rejects.toThrow(/no such service: redsi/u);
    },
    PATIENCE_MS,
  );
});
