import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { driverToken } from './driver-token.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-token-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

function place(more: Partial<Parameters<typeof driverToken>[0]> = {}): Parameters<typeof driverToken>[0] {
  return { proxyUrl: 'http://a', file: undefined, stateDir: join(folder, 'state', 'proxies'), env: {}, ...more };
}

describe("the driver's token", () => {
  it('is made once for each proxy, and only its owner can read it', async () => {
    const both = await Promise.all([driverToken(place()), driverToken(place())]);
    expect(both[0]).toEqual(both[1]);
    expect(both[0].token).toMatch(/^[\w-]{32}$/u);
    expect((await driverToken(place())).token).toBe(both[0].token);
    expect((await driverToken(place({ proxyUrl: 'http://b' }))).token).not.toBe(both[0].token);
    const { mode } = await stat(both[0].source);
    expect(mode & 0o777).toBe(0o600);
    expect((await stat(place().stateDir)).mode & 0o777).toBe(0o700);
  });

  it('is that of the file, else that of the environment', async () => {
    const file = join(folder, 'token');
    await writeFile(file, 'from-a-file-with-22-characters\n');
    const env = { PARLEY_PROXY_TOKEN: 'from-the-environment-with-22' };
    expect((await driverToken(place({ file, env }))).token).toBe('from-a-file-with-22-characters');
    expect((await driverToken(place({ env }))).token).toBe('from-the-environment-with-22');
    expect(await readdir(folder)).toEqual(['token']);
  });

  it.each(['short-and-secret', '😀'.repeat(21)])('that is too short is refused and not told', async (token) => {
    const failed = await driverToken(place({ env: { PARLEY_PROXY_TOKEN: token } })).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      name: 'UsageError',
      message: 'PARLEY_PROXY_TOKEN: a token has 22 to 1000 characters',
    });
  });

  it('has 22 characters, not bytes or halves of them', async () => {
    const token = '😀'.repeat(22);
    expect((await driverToken(place({ env: { PARLEY_PROXY_TOKEN: token } }))).token).toBe(token);
  });

  it('that cannot be read or kept is told in one line', async () => {
    await expect(driverToken(place({ file: join(folder, 'none') }))).rejects.toThrow(
      /cannot read the token: .*ENOENT/u,
    );
    await writeFile(join(folder, 'state'), '');
    await expect(driverToken(place())).rejects.toThrow(/cannot keep a token: /u);
  });
});
