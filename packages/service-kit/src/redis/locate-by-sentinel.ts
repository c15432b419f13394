import { askRedis } from './ask-redis.js';
import { newestAnswer, type MasterClaim } from './newest-answer.js';
import type { SentinelRedis } from './redis-target.js';
import { LOCATE_TIMEOUT_MS, type ServerLocator } from './server-locator.js';

/** A master that was frozen or cut off is told by the sentinels that it is none any more, but up to ten seconds late. */
const RECHECK_MS = 1_000;

export function locateBySentinel(target: SentinelRedis): ServerLocator {
  const { sentinels, masterName, sentinelPassword, tls = false } = target;
  const options = { password: sentinelPassword, tls, timeoutMs: LOCATE_TIMEOUT_MS };
  return {
    recheckMs: RECHECK_MS,
    locate: () =>
      newestAnswer(sentinels, (sentinel) =>
        askRedis(sentinel, options, async (ask) => readMaster(await ask('SENTINEL', 'MASTER', masterName))),
      ),
  };
}

/** @throws Error when it is no answer to `SENTINEL MASTER`. */
export function readMaster(reply: unknown): MasterClaim {
  const flat: readonly unknown[] = Array.isArray(reply) ? reply : [];
  const field = (name: string): string => {
    const value = flat[flat.indexOf(name) + 1];
    if (typeof value !== 'string' || !flat.includes(name)) throw new Error(`a sentinel says no ${name} of its master`);
    return value;
  };
  return { host: field('ip'), port: Number(field('port')), epoch: Number(field('config-epoch')) };
}
