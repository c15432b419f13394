import type { HarnessLogger } from '@parley/harness';

/** A log whose entries are one text each. */
export function warnLogger(warn: (message: string) => void): HarnessLogger {
  return {
    warn: (message, details) => warn(details === undefined ? message : `${message} ${JSON.stringify(details)}`),
  };
}
