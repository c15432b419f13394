import { z } from 'zod';
import { ConfigError, readEnv } from '../config/env.js';
import { redisEnv, redisTarget } from './redis-env.js';

const SCHEMA = z.object(redisEnv('Where it is.'));
const target = (env: Record<string, string>) => redisTarget(readEnv(SCHEMA, env));

describe('where Redis is', () => {
  it('is nowhere unless something says so', () => {
    expect(target({})).toBeUndefined();
    expect(target({ REDIS_URL: '', REDIS_SENTINELS: '', REDIS_CLUSTER_NODES: '', REDIS_PASSWORD: '' })).toBeUndefined();
  });

  it.each([
    [{ REDIS_URL: 'redis://h:1' }, { url: 'redis://h:1' }],
    [{ REDIS_URL: 'rediss://h:1', REDIS_TLS: 'true' }, { url: 'rediss://h:1' }],
    [
      { REDIS_URL: 'redis://h:1', REDIS_USERNAME: 'u', REDIS_PASSWORD: 'p' },
      { url: 'redis://h:1', username: 'u', password: 'p' },
    ],
    [
      { REDIS_SENTINELS: 'a:1, b:2', REDIS_MASTER_NAME: 'm' },
      {
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
        masterName: 'm',
        tls: false,
      },
    ],
    [
      { REDIS_SENTINELS: 'a:1', REDIS_MASTER_NAME: 'm', REDIS_SENTINEL_PASSWORD: 's', REDIS_PASSWORD: 'p' },
      { sentinels: [{ host: 'a', port: 1 }], masterName: 'm', sentinelPassword: 's', password: 'p', tls: false },
    ],
    [
      { REDIS_CLUSTER_NODES: 'a:1', REDIS_TLS: 'true', REDIS_PASSWORD: 'p' },
      { clusterNodes: [{ host: 'a', port: 1 }], tls: true, password: 'p' },
    ],
  ])('%j', (env, wanted) => {
    expect(target(env)).toEqual(wanted);
  });

  it.each<[Record<string, string>, string[]]>([
    [{ REDIS_URL: 'redis://h:1', REDIS_CLUSTER_NODES: 'a:1' }, ['REDIS_URL', 'REDIS_CLUSTER_NODES']],
    [{ REDIS_SENTINELS: 'a:1', REDIS_MASTER_NAME: 'm', REDIS_CLUSTER_NODES: 'a:1' }, ['REDIS_SENTINELS', 'REDIS_CLUSTER_NODES']],
    [{ REDIS_SENTINELS: 'a:1' }, ['REDIS_MASTER_NAME', 'REDIS_SENTINELS']],
    [{ REDIS_URL: 'redis://h:1', REDIS_MASTER_NAME: 'm' }, ['REDIS_MASTER_NAME', 'REDIS_SENTINELS']],
    [{ REDIS_CLUSTER_NODES: 'a:1', REDIS_SENTINEL_PASSWORD: 'swordfish' }, ['REDIS_SENTINEL_PASSWORD', 'REDIS_SENTINELS']],
    [{ REDIS_PASSWORD: 'swordfish' }, ['REDIS_PASSWORD', 'REDIS_URL']],
    [{ REDIS_URL: 'redis://h:1', REDIS_USERNAME: 'u' }, ['REDIS_USERNAME', 'REDIS_PASSWORD']],
    [{ REDIS_URL: 'redis://:swordfish@h:1', REDIS_PASSWORD: 'p' }, ['REDIS_URL', 'REDIS_PASSWORD']],
    [{ REDIS_URL: 'redis://h:1', REDIS_TLS: 'true' }, ['REDIS_URL', 'REDIS_TLS']],
    [{ REDIS_TLS: 'true' }, ['REDIS_TLS', 'REDIS_URL']],
    [{ REDIS_SENTINELS: 'swordfish' }, ['REDIS_SENTINELS']],
    [{ REDIS_CLUSTER_NODES: 'a:1,,b:1' }, ['REDIS_CLUSTER_NODES']],
    [{ REDIS_URL: 'http://swordfish' }, ['REDIS_URL']],
  ])('is not said by %j, and the variables are named, not their values', (env, names) => {
    let refusal: unknown;
    try {
      target(env);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ConfigError);
    const { message } = refusal as ConfigError;
    for (const name of names) expect(message).toContain(name);
    expect(message).not.toContain('swordfish');
  }); // prettier-ignore

  it('names all that is wrong', () => {
    expect(() => target({ REDIS_MASTER_NAME: 'm', REDIS_USERNAME: 'u' })).toThrow(
      /REDIS_MASTER_NAME: .*\n.*REDIS_USERNAME: .*\n.*REDIS_USERNAME: /u,
    );
  });
});
