import { StepOutcome } from '@parley/harness';

/** A failure as the model is told it: the run goes on, and what it does about it is its own. */
export function toolError(code: string, message: string, more: Readonly<Record<string, unknown>> = {}): StepOutcome {
  return new StepOutcome({ status: 'error', code, error: message, ...more }, { error: message });
}
