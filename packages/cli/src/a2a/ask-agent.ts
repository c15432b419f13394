import type { A2aConnection } from '@parley/agent';
import type { CliIo } from '../cli-io.js';
import { OutputWriter } from '../print/output-writer.js';
import { LOST_READER_EXIT_CODE, onStopSignals } from '../stop-signals.js';
import type { ConnectTo } from './a2a-ports.js';
import type { ConnectSettings } from './a2a-settings.js';
import { closeSoon } from './close-soon.js';

export interface Asking {
  readonly connection: A2aConnection;
  readonly out: OutputWriter;
  readonly err: OutputWriter;
  /** Aborted when the program has to end. */
  readonly signal: AbortSignal;
}

/**
 * Connects, asks, and leaves at the first signal: what runs at the agent is not touched by that.
 *
 * @returns what `ask` returns, or the exit code of what stopped it. @throws whatever the agent or the way to it answers.
 */
export async function askAgent(
  io: CliIo,
  settings: ConnectSettings,
  connectTo: ConnectTo,
  ask: (asking: Asking) => Promise<number>,
): Promise<number> {
  const abort = new AbortController();
  const stopped = Promise.withResolvers<number>();
  const stop = (code: number): void => {
    stopped.resolve(code);
    abort.abort();
  };
  const out = new OutputWriter(io.stdout, () => stop(LOST_READER_EXIT_CODE));
  const err = new OutputWriter(io.stderr);
  const endListening = onStopSignals(io.process, stop);
  let connection: A2aConnection | undefined;
  const work = async (): Promise<number> => {
    connection = await connectTo(settings, abort.signal);
    return ask({ connection, out, err, signal: abort.signal });
  };
  try {
    // First in the list, as both may be settled in the same moment: who stopped it knows the exit code.
    return await Promise.race([stopped.promise, work()]);
  } finally {
    abort.abort();
    endListening();
    await closeSoon(connection);
  }
}
