import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '@parley/testkit';

const PACKAGES = join(import.meta.dirname, '..', '..', 'foreign-acp');
const INSTALL_TAKES_AT_MOST_MS = 75_000;

/** What tells npm where packages come from. The rest of its settings are those of whoever runs the tests. */
const NPM_SETTINGS = [
  'npm_config_registry',
  'npm_config_cafile',
  'npm_config_userconfig',
  'npm_config_cache',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
];

export interface ForeignAcp {
  /** Scripts for node. */
  readonly acpx: string;
  readonly geminiCli: string;
  remove(): void;
}

/**
 * Installs the client and the agent of other teams into a folder of its own, in the versions of the lock file. No
 * script of a package is run.
 *
 * @throws Error that says what npm said. There is no way round: a test that left them out would show nothing.
 */
export async function installForeignAcp(): Promise<ForeignAcp> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-foreign-acp-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(PACKAGES, file), join(folder, file));
    await npmInstall(folder);
  } catch (error) {
    remove();
    throw error;
  }
  const modules = join(folder, 'node_modules');
  return {
    acpx: join(modules, 'acpx', 'dist', 'cli.js'),
    geminiCli: join(modules, '@google', 'gemini-cli', 'bundle', 'gemini.js'),
    remove,
  };
}

async function npmInstall(folder: string): Promise<void> {
  const npm = await startProcess({
    command: 'npm',
    args: [
      'ci',
      '--ignore-scripts',
      '--omit=optional',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ],
    cwd: folder,
    env: Object.fromEntries(NPM_SETTINGS.map((name) => [name, process.env[name]])),
  });
  const tooLate = setTimeout(() => void npm.stop({ graceMs: 1_000 }), INSTALL_TAKES_AT_MOST_MS);
  const { code } = await npm.exited;
  clearTimeout(tooLate);
  if (code === 0) return;
  const why = code === null ? `ended after ${INSTALL_TAKES_AT_MOST_MS / 1_000} s` : `exit code ${code}`;
  throw new Error(
    `tests/foreign-acp could not be installed: npm ci needs a package registry or a filled cache (${why})\n${npm.output()}`,
  );
}
