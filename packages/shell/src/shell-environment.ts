/** What a command gets of the environment by default. Nothing in it is a secret. */
export const DEFAULT_PASSED_ENV: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'TERM',
  'TMPDIR',
  'TZ',
];

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The named entries of `parent`, then `own`. A list of what may pass: a list of what may not would miss the next key. */
export function shellEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  passed: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const name of passed) {
    const value = parent[name];
    if (value !== undefined) environment[name] = value;
  }
  return { ...environment, ...own };
}
