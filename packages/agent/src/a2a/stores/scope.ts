import { createHash } from 'node:crypto';
import type { OwnerResolver, ServerCallContext } from '@a2a-js/sdk/server';

/** Whose tasks: no other tenant and no other caller sees them. */
export function scopeOf(context: ServerCallContext, ownerResolver: OwnerResolver): string {
  return `${context.tenant ?? ''}\0${ownerResolver(context)}`;
}

/** Names from outside as a part of a key: of one length, and without anything that means something there. */
export function hashed(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
