import { createHash, randomBytes } from 'node:crypto';
import { AppError, type CallContext } from '@parley/service-kit';

/** A shorter one could be guessed. */
const MIN_TOKEN_LENGTH = 22;

export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Only this is ever stored. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** @throws AppError `unauthenticated` without a bearer. */
export function requireBearer(call: CallContext): string {
  if (call.bearer === undefined) {
    throw new AppError('unauthenticated', 'The owner token is needed, as Authorization: Bearer ....', {
      code: 'token_required',
    });
  }
  return call.bearer;
}

/** The token that a caller brings to its own registration. @throws AppError when it is too short to be one. */
export function ownTokenOf(call: CallContext): string | undefined {
  if (call.header('authorization') === undefined) return undefined;
  const token = requireBearer(call);
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new AppError('invalid_request', `An owner token has at least ${String(MIN_TOKEN_LENGTH)} characters.`, {
      code: 'token_too_short',
      errors: [{ path: 'authorization', message: `at least ${String(MIN_TOKEN_LENGTH)} characters` }],
    });
  }
  return token;
}
