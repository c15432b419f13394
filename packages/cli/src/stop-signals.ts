import type { ProcessEvents } from './cli-io.js';

export const ABORTED_EXIT_CODE = 130;

/** The reader left: as a shell says of SIGPIPE. */
export const LOST_READER_EXIT_CODE = 141;

/** As a shell says that a program was ended by a signal. */
const SIGNALS = { SIGINT: ABORTED_EXIT_CODE, SIGTERM: 143, SIGHUP: 129 } as const;

/** Calls `stop` for every signal that asks the program to end. @returns what ends the listening. */
export function onStopSignals(process: ProcessEvents, stop: (exitCode: number) => void): () => void {
  const listeners = Object.entries(SIGNALS).map(([signal, code]) => [signal, () => stop(code)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}
