import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { silentLogger } from '@parley/service-kit';
import { RedisStore } from '../../services/registry/dist/store/redis/redis-store.js';
import { manifests } from './data.mjs';
import { alternate, round } from './load.mjs';

const CONCURRENCY = 256;

/** Runs one asynchronous step after another on each of many lanes, for a bounded time. */
async function rate(seconds, step) {
  const until = performance.now() + seconds * 1_000;
  const started = performance.now();
  let count = 0;
  const lane = async () => {
    while (performance.now() < until) {
      await step(count);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return { per_second: Math.round(count / ((performance.now() - started) / 1_000)) };
}

/** A registration in the store (record, deadline, log line in one step) against one plain pipelined write of the same bytes. */
export async function redisRegister(url, options) {
  const raw = new Redis(url, { enableAutoPipelining: true });
  const guard = { awayThresholdMs: 3_000, share: 0.5, minAgents: 1 };
  const store = new RedisStore({ redis: { url }, namespace: 'bench', logger: silentLogger, guard });
  await raw.ping();
  for (;;) {
    try {
      await store.ping();
      break;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const source = manifests(0, 100_000_000, 'raw');
  const hash = randomBytes(32).toString('base64url');
  const next = () => {
    const manifest = source.next().value;
    return { id: manifest.agent_id, text: JSON.stringify(manifest) };
  };
  const got = await alternate(
    [
      [
        'ours',
        () =>
          rate(options.seconds, () => {
            const { id, text } = next();
            return store.register({ agentId: id, manifestJson: text, ttlMs: 60_000, newTokenHash: hash });
          }),
      ],
      [
        'raw',
        () =>
          rate(options.seconds, () => {
            const { id, text } = next();
            return raw.set(`bench-raw:${id}`, text, 'PX', 60_000);
          }),
      ],
    ],
    options.repeat,
  );
  await store.close();
  await raw.flushall();
  await raw.quit();
  return [
    {
      operation: 'register in Redis',
      ours: got.ours,
      peer: 'SET with PX of the same bytes, pipelined through ioredis',
      theirs: got.raw,
      ratio: round(got.ours.per_second / got.raw.per_second, 2),
      wanted: 0.3,
    },
  ];
}
