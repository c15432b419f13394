import type { Redis } from 'ioredis';
import { agentHashTag } from '../agreements/redis-keys.js';
import { redisScript, runScript } from '../agreements/redis-script.js';

/** The processes that are one agent: one id, one store, behind one address. */
export interface ReplicaGroup {
  /**
   * Takes this one out. Of several that go at once exactly the last is told that nobody is left. Never rejects.
   * @returns whether others live; false when the store does not say.
   */
  leave(): Promise<boolean>;
}

export interface ReplicaGroupOptions {
  /** Made by `connectRedis` of service-kit; ended by whoever made it. */
  readonly redis: Redis;
  readonly agentId: string;
  /** Which one this is. The same after a restart in the same place, so that none counts twice. */
  readonly member: string;
  /** A replica that was silent so long is dead. Default 5,000. */
  readonly silenceMs?: number;
}

const DEFAULT_SILENCE_MS = 5_000;

/** By the clock of the store: those of the replicas may differ. A group that all have left without a word goes by itself. */
const ALIVE = redisScript(`
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);

/** member, silence -> how many others live */
const LEAVE = redisScript(`
local time = redis.call('TIME')
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[2])
return redis.call('ZCARD', KEYS[1])
`);

/** Says that this replica is alive, again and again, until it leaves. */
export function joinReplicas(options: ReplicaGroupOptions): ReplicaGroup {
  const { redis, agentId, member, silenceMs = DEFAULT_SILENCE_MS } = options;
  const keys = [`{${agentHashTag(agentId)}}:replicas`];
  // Missed once or twice, it is still counted; longer, and the store is away for the others too.
  const say = (): void => {
    runScript(redis, ALIVE, keys, [member, silenceMs]).catch(() => undefined);
  };
  say();
  const timer = setInterval(say, silenceMs / 4).unref();
  return {
    leave: async () => {
      clearInterval(timer);
      try {
        return Number(await runScript(redis, LEAVE, keys, [member, silenceMs])) > 0;
      } catch {
        return false;
      }
    },
  };
}
