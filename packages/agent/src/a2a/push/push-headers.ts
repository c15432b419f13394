import type { TaskPushNotificationConfig } from '@a2a-js/sdk';

/** Both, when both were given: a receiver may check the one that proves who calls and the one that names its task. */
export function pushHeaders(
  { authentication, token }: TaskPushNotificationConfig,
  contentType: string,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': contentType, 'user-agent': 'parley-agent' };
  if (authentication !== undefined && authentication.scheme !== '' && authentication.credentials !== '') {
    headers['authorization'] = `${authentication.scheme} ${authentication.credentials}`;
  }
  if (token !== '') headers['x-a2a-notification-token'] = token;
  return headers;
}
