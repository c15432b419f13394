import type { CliIo } from './cli-io.js';
import { OutputWriter } from './print/output-writer.js';
import { LOST_READER_EXIT_CODE, onStopSignals } from './stop-signals.js';

export interface Stoppable {
  /** Its reader may leave: that stops the work too. */
  readonly out: OutputWriter;
  /** Aborted when the work has to end. */
  readonly signal: AbortSignal;
  /** The first exit code counts. */
  readonly stop: (exitCode: number) => void;
}

/**
 * Does the work of a command, which a signal ends, or its reader when they leave.
 *
 * @returns what `work` returns, or the exit code of what stopped it. @throws what `work` throws by itself.
 */
export async function untilStopped(io: CliIo, work: (stoppable: Stoppable) => Promise<number>): Promise<number> {
  const abort = new AbortController();
  let stoppedBy: number | undefined;
  const stop = (exitCode: number): void => {
    stoppedBy ??= exitCode;
    abort.abort();
  };
  const out = new OutputWriter(io.stdout, () => stop(LOST_READER_EXIT_CODE));
  const endListening = onStopSignals(io.process, stop);
  try {
    return await work({ out, signal: abort.signal, stop });
  } catch (error) {
    if (stoppedBy === undefined) throw error;
    return stoppedBy;
  } finally {
    endListening();
  }
}
