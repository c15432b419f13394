import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { pushConfig } from '../../../test-support/a2a-tasks.js';
import { checkPushConfig, type PushTargetRules } from './push-target.js';

const local: PushTargetRules = { allowPlainHttp: true, allowPrivateAddresses: true };

function faultOf(over: Partial<TaskPushNotificationConfig>, rules?: PushTargetRules): unknown {
  try {
    checkPushConfig(pushConfig('https://receiver.example/hook', over), rules);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('a push configuration', () => {
  it.each<[string, Partial<TaskPushNotificationConfig>, PushTargetRules?]>([
    ['https to a name', { url: 'https://receiver.example/hook?x=1' }],
    ['https to a public address', { url: 'https://8.8.8.8:8443/' }],
    ['http when it is allowed', { url: 'http://receiver.example/' }, { allowPlainHttp: true }],
    ['loopback when it is allowed', { url: 'http://127.0.0.1:9/' }, local],
    ['a private IPv6 address when it is allowed', { url: 'https://[fd12::1]/' }, local],
    ['bearer credentials and a token', { token: 't', authentication: { scheme: 'Bearer', credentials: 'abc' } }],
    ['a scheme without credentials', { authentication: { scheme: '', credentials: '' } }],
  ])('is taken: %s', (_, over, ...[rules]) => {
    expect(faultOf(over, rules)).toBeUndefined();
  });

  it.each<[string, Partial<TaskPushNotificationConfig>, string, PushTargetRules?]>([
    ['http', { url: 'http://receiver.example/' }, 'url'],
    ['another scheme', { url: 'ftp://receiver.example/' }, 'url', local],
    ['a file', { url: 'file:///etc/passwd' }, 'url', local],
    ['no URL', { url: 'receiver' }, 'url'],
    ['nothing', { url: '' }, 'url'],
    ['a user name', { url: 'https://user@receiver.example/' }, 'url'],
    ['a password', { url: 'https://:secret@receiver.example/' }, 'url'],
    ['a long URL', { url: `https://receiver.example/${'x'.repeat(2_048)}` }, 'url'],
    ['loopback', { url: 'https://127.0.0.1/' }, 'url'],
    ['loopback written as a number', { url: 'https://2130706433/' }, 'url'],
    ['loopback over IPv6', { url: 'https://[::1]/' }, 'url'],
    ['a mapped private address', { url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
    ['the metadata service, in any case', { url: 'http://169.254.169.254/latest' }, 'url', local],
    ['a line break in the token', { token: 'a\r\nx-evil: 1' }, 'token'],
    ['a long token', { token: 'x'.repeat(8_193) }, 'token'],
    ['a line break in the scheme', { authentication: { scheme: 'B\r\nx: 1', credentials: 'c' } }, 'authentication.scheme'],
    ['no scheme', { authentication: { scheme: '', credentials: 'c' } }, 'authentication.scheme'],
    ['a line break in the credentials', { authentication: { scheme: 'Bearer', credentials: 'c\n' } }, 'authentication.credentials'],
    ['a long id', { id: 'x'.repeat(257) }, 'id'],
  ])('is refused with its field and without its value: %s', (_, over, field, ...[rules]) => {
    const error = faultOf(over, rules) as RequestMalformedError;
    expect(error).toBeInstanceOf(RequestMalformedError);
    expect(error.metadata).toEqual({ field: `taskPushNotificationConfig.${field}` });
    expect(error.message).toMatch(new RegExp(`^taskPushNotificationConfig.${field}: `, 'u'));
    expect(error.message).not.toMatch(/secret|receiver\.example|evil|169\.254/u);
  }); // prettier-ignore
});
