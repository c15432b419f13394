const OWN_PREFIX = 'PROXY_ENV_';

/** The variables that commands get besides the allowlist: `PROXY_ENV_NAME=value` of the proxy is their `NAME=value`. */
export function ownCommandEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !name.startsWith(OWN_PREFIX) || name === OWN_PREFIX) continue;
    own[name.slice(OWN_PREFIX.length)] = value;
  }
  return own;
}

/** The proxy's own settings, its control token among them, pass to no command, whatever the allowlist says. */
export function withoutProxySettings(names: readonly string[]): string[] {
  return names.filter((name) => !name.startsWith('PROXY_'));
}
