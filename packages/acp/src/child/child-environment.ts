import { isCredentialName } from './credential-names.js';
import { hasUserInfo, isCredentialValue } from './credential-values.js';

/**
 * `allowlist`: only variables that are known to be harmless. `scrub`: all but those that look like a credential, by name
 * or by value.
 */
export type InheritEnv = 'allowlist' | 'scrub';

export interface ChildEnvironmentOptions {
  /** What is inherited from. Default the environment of this process. */
  readonly parentEnv?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default `allowlist`. */
  readonly inheritEnv?: InheritEnv | undefined;
  /** Names of variables that are inherited whatever they look like, such as KUBECONFIG. */
  readonly forwardEnv?: readonly string[] | undefined;
  /** Added last, and wins. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * Without these a program does not find its files, its language, its terminal's abilities or the way out of a company's
 * network. Those that are URLs are left out if they have user info.
 */
const HARMLESS = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TMP', 'TEMP', 'TZ'],
  ...['LANG', 'LANGUAGE', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
]);

/** They belong to this very process: Node ends at once when a descriptor that it is told of is not there. */
const OWN = new Set(['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_UNIQUE_ID']);

/** The whole environment of a child. */
export function childEnvironment(options: ChildEnvironmentOptions = {}): Record<string, string> {
  const { parentEnv = process.env, inheritEnv = 'allowlist', forwardEnv = [], env = {} } = options;
  const isInherited = inheritEnv === 'scrub' ? isScrubbed : isHarmless;
  const forwarded = new Set(forwardEnv);
  const inherited = Object.entries(parentEnv).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (forwarded.has(entry[0]) || isInherited(entry[0], entry[1])),
  );
  return { ...Object.fromEntries(inherited), ...env };
}

/** Whether a name is on the list of what any child may know. */
export function isHarmlessName(name: string): boolean {
  return HARMLESS.has(name) || name.startsWith('LC_');
}

function isHarmless(name: string, value: string): boolean {
  // A value that begins like this is a function, which some shells run while they start.
  return isHarmlessName(name) && !value.startsWith('()') && !hasUserInfo(value);
}

function isScrubbed(name: string, value: string): boolean {
  return !OWN.has(name) && !isCredentialName(name) && !isCredentialValue(value);
}
