import { Option } from 'commander';
import { UsageError } from './usage-error.js';

export function proxyOption(): Option {
  return new Option('--proxy <url>', 'the proxy').makeOptionMandatory();
}

/** `localhost:8003` is meant as it would be by a browser. @throws UsageError */
export function proxyUrl(value: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//iu.test(value) ? value : `http://${value}`;
  const parsed = URL.parse(url);
  const isFit = parsed !== null && ['http:', 'https:'].includes(parsed.protocol) && parsed.username === '';
  // Not the value: it may hold a password.
  if (!isFit) throw new UsageError('--proxy takes the URL of a proxy: http or https, without a user');
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/u, '')}`;
}
