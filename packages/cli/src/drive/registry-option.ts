import { Option } from 'commander';
import { UsageError } from '../usage-error.js';

const PROTOCOLS = new Set(['http:', 'https:', 'grpc:', 'grpcs:']);
const CAPABILITY = /^[A-Za-z0-9._:/-]{1,64}(?:@.{1,64})?$/u;

const DEFAULT_CAPABILITY = 'playable';

export function registryOption(): Option {
  return new Option('--registry <url>', 'a registry: plays proxies that are free there').conflicts([
    'proxy',
    'tokenFile',
  ]);
}

export function capabilityOption(): Option {
  return new Option('--capability <name>', `what they offer there (default: ${DEFAULT_CAPABILITY})`).conflicts('proxy');
}

/** One address, or several doors to one registry, separated by commas; `localhost:8000` is meant over HTTP. @throws UsageError */
export function registryUrl(value: string): string {
  const doors = value.split(',').map((door) => door.trim());
  const urls = doors.map(doorUrl);
  const isGrpc = urls.map((url) => url.startsWith('grpc'));
  if (new Set(isGrpc).size > 1)
    throw new UsageError('--registry takes several doors of one kind: all http, or all grpc');
  return urls.join(',');
}

function doorUrl(door: string): string {
  const parsed = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//iu.test(door) ? door : `http://${door}`);
  const isFit = parsed !== null && PROTOCOLS.has(parsed.protocol) && parsed.host !== '' && parsed.username === '';
  // Not the value: it may hold a password.
  if (!isFit || parsed.password !== '' || parsed.search !== '') {
    throw new UsageError('--registry takes the URL of a registry: http, https, grpc or grpcs, without a user');
  }
  return `${parsed.protocol}//${parsed.host}${parsed.pathname.replace(/\/+$/u, '')}`;
}

/** @throws UsageError */
export function capability(value: string | undefined): string {
  if (value === undefined) return DEFAULT_CAPABILITY;
  if (!CAPABILITY.test(value)) throw new UsageError('--capability takes a name, or name@range');
  return value;
}
