import { Redis } from 'ioredis';

export interface RedisPlace {
  readonly port: number;
  readonly password?: string | undefined;
}

/** One command on a connection of its own, to a server on 127.0.0.1. Maps come as lists. */
export async function redisCommand(
  { port, password }: RedisPlace,
  args: readonly string[],
  timeoutMs = 5_000,
): Promise<unknown> {
  const [name, ...rest] = args;
  if (name === undefined) throw new Error('no command was given');
  const redis = new Redis({
    host: '127.0.0.1',
    port,
    ...(password === undefined ? {} : { password }),
    protocol: 2,
    enableReadyCheck: false,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  // A failed connection is told by the rejected promise; the event would only be printed.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await redis.call(name, rest);
  } finally {
    // On a connection that has ended it would start a timer.
    if (redis.status !== 'end') redis.disconnect();
  }
}
