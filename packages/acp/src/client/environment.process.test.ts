import { jest } from '@jest/globals';
import { MockAgents } from '../testing/mock-agents.js';
import type { AcpSubagentOptions } from './index.js';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(30_000);

const SECRET = 'secret-value-4711';

/** Shaped like what people have in their environments. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'GITHUB_TOKEN',
      'GH_TOKEN',
      'NPM_TOKEN',
      'NODE_AUTH_TOKEN',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'AZURE_CLIENT_SECRET',
      'SLACK_BOT_TOKEN',
      'STRIPE_SECRET_KEY',
      'DB_PASSWORD',
      'PGPASSWORD',
      'MYSQL_ROOT_PASSWORD',
      'REDIS_PASSWORD',
      'GPG_PASSPHRASE',
      'SSH_PRIVATE_KEY',
      'JWT_SECRET',
      'SESSION_COOKIE',
      'SENTRY_DSN',
      'BASIC_AUTH',
      'HF_TOKEN',
      'DOCKER_AUTH_CONFIG',
      'VAULT_TOKEN',
      'ENCRYPTION_KEY',
      'my_api_key',
    ].map((name) => [name, SECRET]),
  ),
  DATABASE_URL: `postgres://app:${SECRET}@db.internal:5432/app`,
  HTTPS_PROXY: `http://me:${SECRET}@proxy.internal:3128`,
  REDIS_URL: `redis://:${SECRET}@cache.internal`,
  HEADER: `Bearer ${SECRET}`,
};

const HARMLESS = { HOME: '/home/me', LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: '/tmp', TZ: 'UTC' };
const OTHERS = { EDITOR: 'vi', KUBECONFIG: '/home/me/.kube/config', MONKEY: 'banana', AUTHOR: 'me' };

describe('the environment of a child', () => {
  let agents: MockAgents;

  beforeEach(() => {
    agents = new MockAgents();
  });

  afterEach(async () => {
    expect(await agents.close()).toEqual([]);
  });

  async function environmentWith(more: Partial<AcpSubagentOptions>): Promise<Record<string, string>> {
    const parentEnv = { PATH: process.env['PATH'], ...HARMLESS, ...OTHERS, ...CREDENTIALS };
    const script = { prompts: [[{ say: 'environment' }, { answer: 'end_turn' }]] };
    const run = await agents.start(script, { parentEnv, ...more });
    const { output } = await run.result;
    await run.dispose();
    return JSON.parse(output) as Record<string, string>;
  }

  it.each(['allowlist', 'scrub', undefined] as const)(
    'has none of thirty credentials, and what is harmless (%s)',
    async (inheritEnv) => {
      expect(Object.keys(CREDENTIALS).length).toBeGreaterThanOrEqual(30);
      const env = await environmentWith(inheritEnv === undefined ? {} : { inheritEnv });
      expect(Object.keys(env).filter((name) => name in CREDENTIALS)).toEqual([]);
      expect(JSON.stringify(env)).not.toContain(SECRET);
      expect(env).toMatchObject({ PATH: process.env['PATH'], ...HARMLESS });
    },
  );

  it('has what is not known to be harmless only if it is scrubbed', async () => {
    expect(Object.keys(await environmentWith({})).filter((name) => name in OTHERS)).toEqual([]);
    expect(await environmentWith({ inheritEnv: 'scrub' })).toMatchObject(OTHERS);
  });

  it.each(['allowlist', 'scrub'] as const)('has what is forwarded and what is given (%s)', async (inheritEnv) => {
    const env = await environmentWith({
      inheritEnv,
      forwardEnv: ['KUBECONFIG', 'GITHUB_TOKEN', 'NOT_SET'],
      env: { AGENT_API_KEY: 'given', LANG: 'de_DE.UTF-8' },
    });
    expect(env).toMatchObject({
      KUBECONFIG: OTHERS.KUBECONFIG,
      GITHUB_TOKEN: SECRET,
      AGENT_API_KEY: 'given',
      LANG: 'de_DE.UTF-8',
    });
    expect(env).not.toHaveProperty('NOT_SET');
    expect(env).not.toHaveProperty('GH_TOKEN');
  });
});
