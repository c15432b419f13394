import { tmpdir } from 'node:os';
import { childEnvironment, type ChildEnvironmentOptions } from './child-environment.js';
import { startChild } from './start-child.js';

/** By name, and by what they hold. Each value has the word. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: 'sk-hidden',
  ANTHROPIC_AUTH_TOKEN: 'hidden',
  AWS_SECRET_ACCESS_KEY: 'hidden',
  AWS_SESSION_TOKEN: 'hidden',
  GITHUB_TOKEN: 'ghp_hidden',
  GITHUB_PAT: 'hidden',
  DB_PASSWORD: 'hidden',
  MYSQL_PWD: 'hidden',
  PGPASSWORD: 'hidden',
  SMTP_PASS: 'hidden',
  KEY: 'hidden',
  SSH_AUTH_SOCK: '/tmp/hidden',
  SSH_KEY_PASSPHRASE: 'hidden',
  GOOGLE_APPLICATION_CREDENTIALS: '/hidden.json',
  SENTRY_DSN: 'https://hidden@sentry.example/1',
  SESSION_COOKIE: 'hidden',
  BASIC_AUTH: 'hidden',
  client_secret: 'hidden',
  Stripe_Secret_Key: 'hidden',
  npm_config__authToken: 'hidden',
  'npm_config_//registry.example/:_authToken': 'hidden',
  AZURE_STORAGE_CONNECTION_STRING: 'AccountName=a;AccountKey=hidden',
  REDIS_PASSWD: 'hidden',
  APIKEY: 'hidden',
  SLACKTOKEN: 'hidden',
  JWT: 'hidden',
  DATABASE_URL: 'postgres://user:hidden@db.example/main',
  HTTPS_PROXY: 'http://user:hidden@proxy.example:3128',
  ALL_PROXY: 'socks5://hidden@proxy.example',
  ENDPOINT: 'https://api.example/v1?region=eu&api_key=hidden',
  SETTINGS: 'host=db password=hidden',
  EXTRA_HEADER: 'Bearer hidden',
  SIGNING: '-----BEGIN PRIVATE KEY-----\nhidden',
};

const HARMLESS: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/home/somebody',
  LANG: 'C.UTF-8',
  LC_TIME: 'C',
  TERM: 'dumb',
  TMPDIR: '/tmp',
  TZ: 'UTC',
  USER: 'somebody',
  NO_PROXY: 'localhost',
  HTTP_PROXY: 'http://proxy.example:3128',
  NODE_EXTRA_CA_CERTS: '/ca.pem',
};

/** They look a little like credentials, or are nobody's business. */
const OTHERS: Readonly<Record<string, string>> = {
  MONKEY: 'a',
  AUTHOR: 'b',
  KEYBOARD_LAYOUT: 'c',
  TOKENIZERS_PARALLELISM: 'd',
  PWD: '/e',
  KUBECONFIG: '/kube',
  REPOSITORY: 'git@github.com:a/b.git',
  DOCS: 'https://docs.example/@scope/page?q=1#a@b',
};

const parentEnv = { ...CREDENTIALS, ...HARMLESS, ...OTHERS };

async function environmentOfChild(options: ChildEnvironmentOptions): Promise<Record<string, string>> {
  const print = 'process.stdout.write(JSON.stringify(process.env))';
  const child = await startChild({ command: process.execPath, args: ['-e', print], cwd: tmpdir(), ...options });
  try {
    let text = '';
    for await (const chunk of child.stdout) text += String(chunk);
    const { PARLEY_SHELL_CALL, ...environment } = JSON.parse(text);
    expect(PARLEY_SHELL_CALL).toBeDefined();
    return environment;
  } finally {
    await child.end();
  }
}

describe('the environment of a child', () => {
  it('has only what is known to be harmless', async () => {
    expect(Object.keys(CREDENTIALS).length).toBeGreaterThanOrEqual(30);
    expect(await environmentOfChild({ parentEnv })).toStrictEqual(HARMLESS);
  });

  it('has, scrubbed, everything but what looks like a credential', async () => {
    const environment = await environmentOfChild({ parentEnv, inheritEnv: 'scrub' });
    expect(environment).toStrictEqual({ ...HARMLESS, ...OTHERS });
    expect(JSON.stringify(environment)).not.toContain('hidden');
  });

  it.each(['allowlist', 'scrub'] as const)(
    'has what is forwarded by name, and what is given: %s',
    async (inheritEnv) => {
      const forwardEnv = ['KUBECONFIG', 'GITHUB_TOKEN', 'NOT_THERE'];
      const env = { DB_PASSWORD: 'given', HOME: '/elsewhere' };
      const environment = await environmentOfChild({ parentEnv, inheritEnv, forwardEnv, env });
      expect(environment).toMatchObject({ KUBECONFIG: '/kube', GITHUB_TOKEN: 'ghp_hidden', ...env });
      expect(environment['PATH']).toBe(HARMLESS['PATH']);
      expect(Object.keys(environment)).not.toContain('OPENAI_API_KEY');
      expect(Object.keys(environment)).not.toContain('NOT_THERE');
    },
  );

  it('is that of this process by default, with the same rules', () => {
    const name = 'PARLEY_TEST_ONLY_TOKEN';
    process.env[name] = 'hidden';
    try {
      const environment = childEnvironment();
      expect(environment['PATH']).toBe(process.env['PATH']);
      expect(environment[name]).toBeUndefined();
      expect(childEnvironment({ inheritEnv: 'scrub' })[name]).toBeUndefined();
    } finally {
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- of this test
      delete process.env[name];
    }
  });

  it('has no functions of a shell and nothing that belongs to this process', () => {
    const parent = { HOME: '() { :; }; echo run', NODE_CHANNEL_FD: '3', LANG: undefined, EDITOR: 'vi' };
    expect(childEnvironment({ parentEnv: parent })).toStrictEqual({});
    expect(childEnvironment({ parentEnv: { ...parent, HOME: '/h' }, inheritEnv: 'scrub' })).toStrictEqual({
      HOME: '/h',
      EDITOR: 'vi',
    });
  });

  it('is found in time also where values are long', () => {
    const long = 'a'.repeat(120_000);
    const parent = {
      A: long,
      B: `${long}://`,
      C: '://'.repeat(30_000),
      D: 'password '.repeat(10_000),
      E: '?a='.repeat(30_000),
    };
    const begun = performance.now();
    expect(Object.keys(childEnvironment({ parentEnv: parent, inheritEnv: 'scrub' }))).toStrictEqual([
      'A',
      'B',
      'C',
      'D',
      'E',
    ]);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
