import { isCredentialName } from './credential-names.js';

const SCHEME_END = '://';
const AUTHORITY_END = /[/?#\s"'<>\\]/u;

/**
 * Whether a value shows its credential by its form, whatever its name: a URL with user info or with a parameter that is
 * called like a credential, a `password=` setting, the value of an `Authorization` header, a private key.
 */
export function isCredentialValue(value: string): boolean {
  if (/^\s*(?:bearer|basic)\s+\S/iu.test(value)) return true;
  if (value.includes('PRIVATE KEY-----')) return true;
  if (/(?:^|[\s;&?,])(?:password|passwd|pwd|accountkey|sharedaccesskey) ?=/iu.test(value)) return true;
  return hasUserInfo(value) || hasCredentialParameter(value);
}

/** Whether there is a URL with user info in it, alone or among others. Looks at each character a few times at most. */
export function hasUserInfo(value: string): boolean {
  for (let at = value.indexOf(SCHEME_END); at !== -1; at = value.indexOf(SCHEME_END, at + 1)) {
    const rest = value.slice(at + SCHEME_END.length);
    const end = rest.search(AUTHORITY_END);
    if ((end === -1 ? rest : rest.slice(0, end)).includes('@')) return true;
  }
  return false;
}

function hasCredentialParameter(value: string): boolean {
  const begin = value.indexOf('?', Math.max(0, value.indexOf(SCHEME_END)));
  if (begin === -1 || !value.includes(SCHEME_END)) return false;
  return value
    .slice(begin + 1)
    .split(/[&;]/u)
    .some((pair) => /^[^=]+=./u.test(pair) && isCredentialName(pair.slice(0, pair.indexOf('='))));
}
