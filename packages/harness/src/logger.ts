/** The part of a logger that the harness uses; loggers with `warn(message, details)` fit as they are. */
export interface HarnessLogger {
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** Says nothing. The default. */
export const quietLogger: HarnessLogger = { warn: () => undefined };
