import { Redis, type RedisOptions } from 'ioredis';
import { AppError } from '../errors/app-error.js';
import type { Logger } from '../logging/logger.js';
import { writeTogether } from './write-together.js';

export interface ConnectRedisOptions {
  /** `redis://[user:password@]host:port/db` or `rediss://...`. */
  readonly url: string;
  /** Seen in `CLIENT LIST`. */
  readonly name: string;
  readonly logger: Logger;
  /** No command takes longer, connected or not. Default 800 ms: a caller has its 503 within a second. */
  readonly commandTimeoutMs?: number;
  /** For a connection that blocks on the server (XREAD BLOCK): no time-out for commands; its owner watches it. */
  readonly blocking?: boolean;
  /** Puts commands of one tick into one write. Default true, never for a blocking connection. */
  readonly pipelining?: boolean;
  /**
   * A server that is silent for this long while commands wait is given up, and connected to anew: their number
   * would grow, and all of them would still be carried out when it wakes up. Default three command time-outs,
   * 30,000 ms for a blocking connection (which must not block for longer).
   */
  readonly silenceMs?: number;
}

const COMMAND_TIMEOUT_MS = 800;
const BLOCKING_SILENCE_MS = 30_000;

/**
 * One connection with bounded behaviour: it reconnects for ever (50 ms to 1 s apart), but a command
 * given while it is away fails at once, and one that is under way fails after `commandTimeoutMs` or when the
 * connection is lost; none is sent twice. The library's own defaults would keep a command waiting for about 70 s.
 */
export function connectRedis(options: ConnectRedisOptions): Redis {
  const blocking = options.blocking ?? false;
  const commandTimeout = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const settings = {
    connectionName: options.name,
    lazyConnect: false,
    enableOfflineQueue: false,
    // With any other number the library forgets, without settling them, the commands that were under way
    // when the connection was lost and the next attempt succeeded.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 1_000,
    // The half-closed socket of a peer that does not answer; the library waits, and keeps the process, for 2 s.
    disconnectTimeout: 100,
    keepAlive: 5_000,
    socketTimeout: options.silenceMs ?? (blocking ? BLOCKING_SILENCE_MS : 3 * commandTimeout),
    retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt - 1, 5), 1_000),
    // A fail-over answers READONLY on the old primary: reconnect, so that the name leads to the new one.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? (1 as const) : false),
    ...(blocking ? {} : { commandTimeout }),
  } satisfies RedisOptions;
  const redis = new Redis(options.url, settings);
  if (!blocking && (options.pipelining ?? true)) writeTogether(redis);
  reportAvailability(redis, options);
  return redis;
}

/** Without a listener for its errors the library would print each failed attempt. */
function reportAvailability(redis: Redis, { name, logger }: ConnectRedisOptions): void {
  let down = false;
  redis.on('error', (error: Error) => {
    if (down) return;
    down = true;
    logger.warn('Redis cannot be reached', { connection: name, error });
  });
  redis.on('ready', () => {
    if (down) logger.info('Redis can be reached again', { connection: name });
    down = false;
  });
}

/**
 * What a failed command means to whoever asked: the store is away, try again.
 * Errors of our own pass unchanged (they are not the store's trouble).
 */
export function storeUnavailable(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('unavailable', 'The store cannot be reached now.', {
    code: 'store_unavailable',
    retryAfterSeconds: 1,
    cause,
  });
}

/** Ends a connection in bounded time: `quit` never returns while a client is reconnecting. Safe to call twice. */
export async function closeRedis(redis: Redis, timeoutMs = 1_000): Promise<void> {
  if (redis.status === 'end') return;
  if (redis.status === 'ready') {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      const over = (): void => {
        clearTimeout(timer);
        resolve();
      };
      redis.once('end', over);
      // The server closes the connection after its answer; without one it is cut below.
      redis.quit().catch(over);
    });
    if (hasEnded(redis)) return;
  }
  redis.disconnect();
}

/** Read anew: the compiler takes it for unchanged since it was last looked at. */
function hasEnded(redis: Redis): boolean {
  return redis.status === 'end';
}
