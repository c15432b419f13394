import { messageOf } from '@parley/harness';

/** A cause that is its own would have no end. */
const MAX_DEPTH = 8;

/**
 * What went wrong with an agent, in one line: what was said of it and, where there is one, the reason that the protocol
 * gives it, as in `Task not found (TASK_NOT_FOUND)`; for a lost connection the system's reason too.
 */
export function describeFailure(error: unknown): string {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  // By name: loading the class would load all that speaks with agents.
  if (name !== 'AppError' || typeof code !== 'string') return messageOf(error);
  const reasons = [code.toUpperCase(), systemCodeOf(error)].filter((reason) => reason !== undefined);
  return `${messageOf(error)} (${reasons.join(', ')})`;
}

export function systemCodeOf(error: unknown): string | undefined {
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && typeof cause === 'object' && cause !== null; depth += 1) {
    const { code } = cause as { readonly code?: unknown };
    if (typeof code === 'string' && /^E[A-Z_]{3,}$/u.test(code)) return code;
    ({ cause } = cause as { readonly cause?: unknown });
  }
  return undefined;
}
