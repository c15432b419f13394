import type { Redis } from 'ioredis';
import { recordingLogger } from '../http/http.test-helper.js';
import { closeRedis, connectRedis, type ConnectRedisOptions } from './connect-redis.js';
import type { RedisTarget } from './redis-target.js';

type Options = RedisTarget &
  Omit<ConnectRedisOptions, keyof RedisTarget | 'name' | 'logger'> & { readonly name?: string };

/** To be called once in a test file: connects, with what was logged, and closes the connections after each test. */
export function connections() {
  const opened = new Set<Redis>();

  afterEach(async () => {
    await Promise.all([...opened].map((redis) => closeRedis(redis, 100)));
    opened.clear();
  });

  return (options: Options) => {
    const { logger, lines } = recordingLogger();
    const redis = connectRedis({ name: 'test', ...options, logger });
    opened.add(redis);
    return { redis, lines };
  };
}
