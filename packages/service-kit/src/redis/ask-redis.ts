import { Redis } from 'ioredis';
import type { ServerAddress } from './redis-target.js';

export interface AskOptions {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls: boolean;
  /** For connecting and for each command. */
  readonly timeoutMs: number;
}

/** One command; replies come in the form of the older protocol, in which maps are lists. */
export type Ask = (command: string, ...args: string[]) => Promise<unknown>;

/** Asks one server on a connection of its own, which lives no longer than the question. */
export async function askRedis<T>(
  { host, port }: ServerAddress,
  { username, password, tls, timeoutMs }: AskOptions,
  question: (ask: Ask) => Promise<T>,
): Promise<T> {
  const redis = new Redis({
    host,
    port,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    protocol: 2,
    lazyConnect: true,
    disableClientInfo: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    disconnectTimeout: 100,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // A failed connection is told by the rejected promise, which says only that it is closed; the event says why.
  let cause: unknown;
  redis.on('error', (error) => {
    cause ??= error;
  });
  try {
    await redis.connect();
    return await question((command, ...args) => redis.call(command, args));
  } catch (error) {
    throw cause ?? error;
  } finally {
    // On a connection that has ended it would start a timer.
    if (redis.status !== 'end') redis.disconnect();
  }
}
