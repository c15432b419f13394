import type { Redis } from 'ioredis';

/** A key that says "this replica is alive" for as long as it is set again and again. */
export interface ReplicaSign {
  /** How long it stays when it is set; undefined once it was taken down. */
  readonly lifeMs: number | undefined;
  /** Everybody sees at once that the replica is gone. Never rejects. */
  takeDown(): Promise<void>;
}

export function startReplicaSign(redis: Redis, key: string, lifeMs: number): ReplicaSign {
  let isUp = true;
  const put = (): void => {
    // Missed once or twice, it is still there; longer, and the store is away for the others too.
    redis.set(key, '1', 'PX', lifeMs).catch(() => undefined);
  };
  put();
  const timer = setInterval(put, lifeMs / 3);
  timer.unref();
  return {
    get lifeMs() {
      return isUp ? lifeMs : undefined;
    },
    takeDown: async () => {
      isUp = false;
      clearInterval(timer);
      await redis.del(key).catch(() => undefined);
    },
  };
}
