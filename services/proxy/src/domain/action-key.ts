import { canonicalText } from './canonical.js';
import type { Action } from './facts.js';

/** True if two requests under one action id ask for the same: their time-outs count too. */
export function isSameAction(one: Action, other: Action): boolean {
  if (one.timeoutSeconds !== other.timeoutSeconds) return false;
  if (one.kind === 'bash') return other.kind === 'bash' && one.command === other.command;
  return (
    other.kind === 'tool' &&
    one.server === other.server &&
    one.name === other.name &&
    canonicalText(one.arguments) === canonicalText(other.arguments)
  );
}
