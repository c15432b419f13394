import { ServerCallContext, UnauthenticatedUser, type ServerCallContextBuilder } from '@a2a-js/sdk/server';

/**
 * Carries how a context is made through a library that asks first for the user and then, with that user, for the
 * context, and hands nothing else from the one to the other.
 */
export class ScopedUser extends UnauthenticatedUser {
  readonly makeContext: (() => ServerCallContext) | undefined;
  constructor(makeContext: (() => ServerCallContext) | undefined) {
    super();
    this.makeContext = makeContext;
  }
}

export const contextOfUser: ServerCallContextBuilder = ({ user }) => {
  const made = user instanceof ScopedUser ? user.makeContext?.() : undefined;
  // The context of a request that this server did not begin: it cannot come here.
  return made ?? new ServerCallContext();
};
