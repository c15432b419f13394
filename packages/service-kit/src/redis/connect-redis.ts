import { Redis, type RedisOptions } from 'ioredis';
import { AppError } from '../errors/app-error.js';
import type { Logger } from '../logging/logger.js';
import { locateBySentinel } from './locate-by-sentinel.js';
import { locateInCluster } from './locate-in-cluster.js';
import { locatingConnector } from './locating-connector.js';
import type { RedisTarget, SingleRedis } from './redis-target.js';
import { retryRefused } from './retry-refused.js';
import type { ServerLocator } from './server-locator.js';
import { writeTogether } from './write-together.js';

export interface RedisConnectionSettings {
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
  /**
   * What stands between the braces in all keys that are used over this connection, so that they lie in one slot.
   * Needed with a cluster: the connection goes to the node that serves the slot.
   */
  readonly hashTag?: string;
}

/** Where Redis is, and how to talk to it. */
export type ConnectRedisOptions = RedisTarget & RedisConnectionSettings;

const COMMAND_TIMEOUT_MS = 800;
const BLOCKING_SILENCE_MS = 30_000;
const DISCONNECT_TIMEOUT_MS = 100;
/** Of one address. Where the master is looked for, that costs nobody anything, and it may be another one already. */
const MAX_RECONNECT_MS = 1_000;
const MAX_RELOCATE_MS = 250;

/**
 * One connection with bounded behaviour: it reconnects for ever (50 ms to 1 s apart), but a command
 * given while it is away fails at once, and one that is under way fails after `commandTimeoutMs` or when the
 * connection is lost; none is sent twice. The library's own defaults would keep a command waiting for about 70 s.
 *
 * With sentinels or a cluster, each attempt to connect asks them where the master is, and what a server refuses because
 * it is not (or not yet) the right one is tried again within the same time: see {@link retryRefused}.
 */
export function connectRedis(options: ConnectRedisOptions): Redis {
  const blocking = options.blocking ?? false;
  const commandTimeout = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const located = locate(options);
  let retries: ReturnType<typeof retryRefused> | undefined;
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
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    keepAlive: 5_000,
    socketTimeout: options.silenceMs ?? (blocking ? BLOCKING_SILENCE_MS : 3 * commandTimeout),
    retryStrategy: (attempt: number) => {
      if (attempt === 1 && retries?.isSwitching === true) return 1;
      const most = located === undefined ? MAX_RECONNECT_MS : MAX_RELOCATE_MS;
      return Math.min(50 * 2 ** Math.min(attempt - 1, 5), most);
    },
    // A fail-over answers READONLY on the old primary: reconnect, so that the name leads to the new one.
    reconnectOnError: (error: Error) => {
      if (located !== undefined && !blocking) return false;
      return /^(?:READONLY|MOVED) /.test(error.message) ? (1 as const) : false;
    },
    ...(blocking ? {} : { commandTimeout }),
    ...(options.username === undefined ? {} : { username: options.username }),
    ...(options.password === undefined ? {} : { password: options.password }),
  } satisfies RedisOptions;
  const redis = 'url' in options ? new Redis(options.url, settings) : new Redis({ ...settings, ...located?.settings });
  if (!blocking && (options.pipelining ?? true)) writeTogether(redis);
  if (located !== undefined && !blocking) {
    const { redirected, suspect } = located;
    retries = retryRefused(redis, { timeoutMs: commandTimeout, redirected, unanswered: suspect });
  }
  reportAvailability(redis, options);
  return redis;
}

/** Undefined where the one server has an address. */
function locate(options: ConnectRedisOptions) {
  if ('url' in options) return undefined;
  const locator = locatorOf(options);
  const tls = options.tls ?? false;
  const { Connector, suspect } = locatingConnector({ locator, tls, disconnectTimeoutMs: DISCONNECT_TIMEOUT_MS });
  // `tls` tells the library which event means that the connection is there.
  return { settings: { Connector, ...(tls ? { tls: {} } : {}) }, suspect, redirected: locator.redirected };
}

function locatorOf(options: Exclude<RedisTarget, SingleRedis> & RedisConnectionSettings): ServerLocator {
  if ('sentinels' in options) return locateBySentinel(options);
  if (options.hashTag === undefined) throw new TypeError('a connection to a cluster needs the hash tag of its keys');
  return locateInCluster(options, options.hashTag);
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
