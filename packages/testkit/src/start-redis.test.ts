import { access } from 'node:fs/promises';
import { endEverything } from './children.js';
import { isAlive } from './is-alive.js';
import { startRedis } from './start-redis.js';

describe('startRedis', () => {
  afterEach(endEverything);

  it('answers commands as soon as it is given', async () => {
    const redis = await startRedis();
    expect(redis.url).toBe(`redis://127.0.0.1:${String(redis.port)}`);
    expect(await redis.cli('SET', 'a', '1')).toBe('OK');
    expect(await redis.cli('GET', 'a')).toBe('1');
  });

  it('keeps what was stored over a restart, with another process on the same port', async () => {
    const redis = await startRedis();
    const before = redis.pid;
    await redis.cli('SET', 'a', '1');
    await redis.restart({ keepData: true });
    expect(redis.pid).not.toBe(before);
    expect(await redis.cli('GET', 'a')).toBe('1');
  });

  it('keeps what was stored when it writes an append-only file', async () => {
    const redis = await startRedis({ appendonly: true });
    await redis.cli('SET', 'a', '1');
    await redis.restart({ keepData: true });
    expect(await redis.cli('GET', 'a')).toBe('1');
  });

  it('comes back empty when that is asked for', async () => {
    const redis = await startRedis({ appendonly: true });
    await redis.cli('SET', 'a', '1');
    await redis.restart({ keepData: false });
    expect(await redis.cli('DBSIZE')).toBe(0);
  });

  it('does not answer while it is paused and answers afterwards', async () => {
    const redis = await startRedis();
    redis.pause();
    const answer = redis.cli('PING').then(() => 'answered');
    const pause = new Promise((resolve) => setTimeout(resolve, 200, 'silent'));
    expect(await Promise.race([answer, pause])).toBe('silent');
    await redis.resume();
    expect(await answer).toBe('answered');
  });

  it('refuses connections once stopped, and can be started again', async () => {
    const redis = await startRedis();
    await redis.stop();
    expect(isAlive(redis.pid)).toBe(false);
    await expect(redis.cli('PING')).rejects.toThrow();
    await redis.restart({ keepData: true });
    expect(await redis.cli('PING')).toBe('PONG');
  });

  it('is gone when it was killed, and comes back with what was saved', async () => {
    const redis = await startRedis();
    await redis.cli('SET', 'a', '1');
    await redis.cli('SAVE');
    await redis.kill();
    expect(isAlive(redis.pid)).toBe(false);
    await redis.restart({ keepData: true });
    expect(await redis.cli('GET', 'a')).toBe('1');
  });

  it('stops while it is paused', async () => {
    const redis = await startRedis();
    redis.pause();
    await redis.stop();
    expect(isAlive(redis.pid)).toBe(false);
  });

  it('passes arguments on', async () => {
    const redis = await startRedis({ extraArgs: ['--maxmemory', '4mb'] });
    expect(await redis.cli('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '4194304']);
  });

  it('leaves no process and no folder behind', async () => {
    const redis = await startRedis();
    const [, folder = ''] = (await redis.cli('CONFIG', 'GET', 'dir')) as string[];
    await access(folder);
    await endEverything();
    expect(isAlive(redis.pid)).toBe(false);
    await expect(access(folder)).rejects.toThrow('ENOENT');
  });

  it('says what the server said when it does not start', async () => {
    await expect(startRedis({ extraArgs: ['--no-such-setting', '1'] })).rejects.toThrow(/no-such-setting 1/u);
  });
});
