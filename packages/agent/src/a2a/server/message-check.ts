import { Role, type Message, type Part } from '@a2a-js/sdk';
import type { FieldError } from '@parley/service-kit';

const ROLES: readonly unknown[] = [Role.ROLE_USER, Role.ROLE_AGENT];

/** What is wrong with a message, whatever wire it came by. */
export function messageFaults(message: Message | undefined): FieldError[] {
  if (message === undefined) return [{ path: 'message', message: 'is required' }];
  const faults: FieldError[] = [];
  if (message.messageId === '') faults.push({ path: 'message.messageId', message: 'is required' });
  if (!ROLES.includes(message.role)) faults.push({ path: 'message.role', message: 'must be a role' });
  if (message.parts.length === 0) faults.push({ path: 'message.parts', message: 'must not be empty' });
  message.parts.forEach((part, index) => {
    const fault = partFault(part);
    if (fault !== undefined) faults.push({ path: `message.parts[${String(index)}]`, message: fault });
  });
  return faults;
}

function partFault({ content }: Part): string | undefined {
  if (content === undefined) return 'needs one of text, raw, url, data';
  switch (content.$case) {
    case 'text':
    case 'url':
      return typeof content.value === 'string' ? undefined : `${content.$case} must be text`;
    case 'raw':
      return content.value instanceof Uint8Array ? undefined : 'raw must be bytes';
    case 'data':
      return content.value === undefined ? 'data must be a value' : undefined;
  }
}
