import type { HarnessLogger } from '@parley/harness';
import { chooseModel } from '../agent/choose-model.js';
import type { CliIo } from '../cli-io.js';
import { controlHeaders, loadProxyProtocol } from '../proxy-ports.js';
import { ABORTED_EXIT_CODE, LOST_READER_EXIT_CODE, onStopSignals } from '../stop-signals.js';
import { ContextMemory } from './context-memory.js';
import type { DriveSettings } from './drive-settings.js';
import { describeLeft, DriveView } from './drive-view.js';
import { driverToken } from './driver-token.js';
import { OfflineTurnModel } from './offline-turn-model.js';
import { playTurn } from './play-turn.js';

/**
 * Plays a proxy until it was stopped or has played its turns.
 *
 * @returns the exit code. @throws UsageError; Error with one line that says what the proxy or the way to it answered.
 */
export async function runDrive(settings: DriveSettings, io: CliIo): Promise<number> {
  const { proxyUrl, tokenFile, stateDir, isJson } = settings;
  const model = chooseModel(settings.model, io.env);
  const makeModel = model.offlineBecause === undefined ? model.make : () => new OfflineTurnModel();
  const { token, source } = await driverToken({ proxyUrl, file: tokenFile, stateDir, env: io.env });
  const proxy = await loadProxyProtocol();
  const stopping = new Stopping();
  const view = new DriveView(io, { isJson, onLostReader: () => stopping.leave(LOST_READER_EXIT_CODE) });
  const endListening = onStopSignals(io.process, (code) => {
    if (stopping.stop(code)) void view.say('no more turns; those in play go on to their end (once more: leaves them)');
  });
  const client = new proxy.ProxyClient({ url: proxyUrl, token, headers: controlHeaders(io.env) });
  const memory = new ContextMemory();
  const logger = loggerTo(view);
  try {
    await view.say(`playing ${proxyUrl} with ${model.name}, token of ${source}`);
    if (model.offlineBecause !== undefined) await view.say(`no model is behind it: ${model.offlineBecause}`, 'warn');
    const outcome = await proxy.drive({
      client,
      signal: stopping.left,
      drain: stopping.drained,
      maxConcurrentTurns: settings.concurrency,
      ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
      onEvent: (event) => view.onDrive(event),
      play: (turn) =>
        playTurn(turn, {
          makeModel,
          memory,
          proxy,
          maxSteps: settings.maxSteps,
          contextTokens: settings.model.contextTokens,
          sinkFor: (played) => view.sinkFor(played),
          logger,
        }),
    });
    if (outcome.left.length > 0) await view.say(describeLeft(outcome.left.length), 'warn');
    return stopping.exitCode;
  } finally {
    endListening();
    await client.close();
  }
}

/** The first signal drains, the second leaves; SIGTERM and SIGHUP leave at once. */
class Stopping {
  readonly #drain = new AbortController();
  readonly #leave = new AbortController();
  exitCode = 0;

  get drained(): AbortSignal {
    return this.#drain.signal;
  }

  get left(): AbortSignal {
    return this.#leave.signal;
  }

  /** @returns true if turns in play go on. */
  stop(code: number): boolean {
    const isFirst = !this.#drain.signal.aborted;
    if (code !== ABORTED_EXIT_CODE || !isFirst) {
      this.leave(code);
      return false;
    }
    this.exitCode = code;
    this.#drain.abort();
    return true;
  }

  leave(code: number): void {
    this.exitCode = code;
    this.#drain.abort();
    this.#leave.abort();
  }
}

function loggerTo(view: DriveView): HarnessLogger {
  return {
    warn: (message, details) =>
      void view.say(details === undefined ? message : `${message} ${JSON.stringify(details)}`, 'warn'),
  };
}
