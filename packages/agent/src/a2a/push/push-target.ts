import { isIP } from 'node:net';
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { isAllowedAddress } from '../../peer/check-address.js';

/** Where notifications may go. A caller names the target, so it is not trusted: both are false by default. */
export interface PushTargetRules {
  /** `http:` as well as `https:`. */
  readonly allowPlainHttp?: boolean;
  /** Loopback and private addresses; link-local, metadata and multicast ones are refused in any case. */
  readonly allowPrivateAddresses?: boolean;
}

const MAX_URL_LENGTH = 2_048;
const MAX_ID_LENGTH = 256;
const MAX_SECRET_LENGTH = 8_192;
/** RFC 9110, token. */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/u;
/** What a header carries without being cut or refused on the way. */
const HEADER_TEXT = /^[\x20-\x7e]*$/u;

/**
 * Refuses a configuration that could never be delivered to, or must not be. Names are resolved and checked again when
 * they are called.
 * @throws RequestMalformedError with the field's path; never with its value
 */
export function checkPushConfig(config: TaskPushNotificationConfig, rules: PushTargetRules = {}): void {
  checkUrl(config.url, rules);
  if (config.id.length > MAX_ID_LENGTH) refuse('id', `longer than ${String(MAX_ID_LENGTH)} characters`);
  checkSecret('token', config.token);
  const { authentication } = config;
  if (authentication === undefined) return;
  // Without credentials there is nothing to send, so the name does not matter.
  if (authentication.credentials !== '' && !SCHEME.test(authentication.scheme)) {
    refuse('authentication.scheme', 'not the name of an HTTP authentication scheme');
  }
  checkSecret('authentication.credentials', authentication.credentials);
}

function checkUrl(text: string, rules: PushTargetRules): void {
  if (text.length > MAX_URL_LENGTH) refuse('url', `longer than ${String(MAX_URL_LENGTH)} characters`);
  const url = URL.canParse(text) ? new URL(text) : refuse('url', 'not an absolute URL');
  if (!isAllowedScheme(url, rules)) refuse('url', rules.allowPlainHttp === true ? 'not http or https' : 'not https');
  if (url.username !== '' || url.password !== '') refuse('url', 'must not hold a user name or a password');
  const host = url.hostname.replace(/^\[|\]$/gu, '');
  if (isIP(host) !== 0 && !isAllowedAddress(host, addressPolicy(rules))) refuse('url', 'an address that is not called');
}

export function isAllowedScheme({ protocol }: URL, rules: PushTargetRules): boolean {
  return protocol === 'https:' || (protocol === 'http:' && rules.allowPlainHttp === true);
}

export function addressPolicy(rules: PushTargetRules): { readonly allowPrivateAddresses: boolean } {
  return { allowPrivateAddresses: rules.allowPrivateAddresses ?? false };
}

function checkSecret(path: string, value: string): void {
  if (value.length > MAX_SECRET_LENGTH) refuse(path, `longer than ${String(MAX_SECRET_LENGTH)} characters`);
  if (!HEADER_TEXT.test(value)) refuse(path, 'holds characters that a header cannot carry');
}

function refuse(field: string, what: string): never {
  const path = `taskPushNotificationConfig.${field}`;
  throw new RequestMalformedError({ message: `${path}: ${what}`, metadata: { field: path } });
}
