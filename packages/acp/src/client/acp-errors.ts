import { HarnessError, safeDiagnostic, SubagentStartError } from '@parley/harness';

/** The options of a provider cannot be used. */
export class AcpOptionsError extends HarnessError {
  override readonly name = 'AcpOptionsError';

  constructor(message: string) {
    super('acp_options_invalid', message);
  }
}

/** The request was cancelled before its prompt was sent. */
export class AcpCancelledError extends SubagentStartError {
  override readonly name = 'AcpCancelledError';

  constructor(reason?: unknown) {
    super('subagent_cancelled', 'cancelled before it started', { cause: reason });
  }
}

/** The provider was closed. */
export class AcpProviderClosedError extends SubagentStartError {
  override readonly name = 'AcpProviderClosedError';

  constructor() {
    super('acp_provider_closed', 'the subagent provider was closed');
  }
}

/** The program cannot be started, or it ended, or it does not speak the protocol. */
export class AcpChildError extends SubagentStartError {
  override readonly name = 'AcpChildError';

  constructor(diagnostic: string, cause?: unknown) {
    // Why it could not be started has a code of its own.
    super(cause instanceof HarnessError ? cause.code : 'acp_child_failed', safeDiagnostic(diagnostic), { cause });
  }
}

/** The child was too slow; it was ended before this was told. */
export class AcpTimeoutError extends SubagentStartError {
  override readonly name = 'AcpTimeoutError';

  constructor(
    readonly waitedFor: string,
    readonly timeoutMs: number,
  ) {
    super('acp_timeout', `the subagent gave no answer to ${waitedFor} within ${timeoutMs} ms`);
  }
}

/** The child speaks another version of the protocol. */
export class AcpVersionError extends SubagentStartError {
  override readonly name = 'AcpVersionError';

  constructor(expected: number, given: unknown) {
    const shown = typeof given === 'number' ? String(given) : `a ${typeof given}`;
    super('acp_version', `the subagent speaks version ${shown} of the Agent Client Protocol, not ${expected}`);
  }
}

/** Somebody has to log in first, with a method of the child. */
export class AcpAuthRequiredError extends SubagentStartError {
  override readonly name = 'AcpAuthRequiredError';

  constructor(readonly methods: readonly string[]) {
    const list = methods.length === 0 ? 'it names none' : methods.join(', ');
    super('acp_auth_required', safeDiagnostic(`the subagent wants to be authenticated first; its methods: ${list}`));
  }
}

/** The child refused a request of the protocol. */
export class AcpRefusedError extends SubagentStartError {
  override readonly name = 'AcpRefusedError';

  constructor(method: string, diagnostic: string, cause?: unknown) {
    super('acp_request_refused', safeDiagnostic(`${method}: ${diagnostic}`), { cause });
  }
}
