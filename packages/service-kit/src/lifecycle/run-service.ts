import { ConfigError } from '../config/env.js';
import { createLogger, type Logger } from '../logging/logger.js';
import { stopTelemetry, telemetryHandle } from '../telemetry/telemetry-handle.js';
import { runPhases, type ShutdownPhase } from './lifecycle.js';
import { within } from './within.js';

export interface RunnableService {
  readonly logger: Logger;
  /** Resolves when the service serves. */
  start(): Promise<void>;
  /** What to stop, in order: only what had started. Called once, also after a failed start. */
  shutdownPhases(): readonly ShutdownPhase[];
}

const LOG_FLUSH_TIMEOUT_MS = 500;

/**
 * Runs a service until SIGTERM or SIGINT: the first signal stops it in phases, the second exits at once.
 * Exit code 0 after an orderly stop, 1 when a phase or the start failed, 2 for a wrong environment.
 */
export function runService(name: string, create: () => RunnableService): void {
  new ServiceRun(name, create).begin();
}

class ServiceRun {
  readonly #name: string;
  readonly #create: () => RunnableService;
  #service: RunnableService | undefined;
  #stopping = false;
  #failed = false;
  #ownLogger: Logger | undefined;

  constructor(name: string, create: () => RunnableService) {
    this.#name = name;
    this.#create = create;
  }

  begin(): void {
    // Bound before anything is awaited: a signal during the start is not lost.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        this.#onSignal(signal);
      });
    }
    process.on('uncaughtException', (error) => {
      this.#fail('uncaught exception', error);
    });
    process.on('unhandledRejection', (error) => {
      this.#fail('unhandled rejection', error);
    });
    void this.#start();
  }

  get #logger(): Logger {
    return this.#service?.logger ?? (this.#ownLogger ??= createLogger({ service: this.#name }));
  }

  async #start(): Promise<void> {
    try {
      this.#service = this.#create();
      await this.#service.start();
    } catch (error) {
      if (error instanceof ConfigError) {
        process.stderr.write(`${error.message}\n`);
        process.exit(2);
      }
      // After a signal the start runs into what is being taken down.
      if (this.#stopping) this.#logger.info('the start was given up', { error });
      else this.#fail('the start failed', error);
    }
  }

  #onSignal(signal: string): void {
    if (this.#stopping) process.exit(1);
    this.#logger.info(`received ${signal}, stopping`, { signal });
    void this.#stop();
  }

  #fail(message: string, error: unknown): void {
    this.#failed = true;
    this.#logger.error(message, { error });
    void this.#stop();
  }

  async #stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const results = await runPhases([...this.#servicePhases()], this.#logger);
    if (telemetryHandle() !== undefined) await runPhases([telemetryPhase(this.#logger)], this.#logger);
    const orderly = results.every((result) => result.outcome === 'done');
    // Whoever reads our output may be gone or stuck: the process ends all the same.
    await within(LOG_FLUSH_TIMEOUT_MS, Promise.resolve(this.#logger.flush?.()));
    process.exit(this.#failed || !orderly ? 1 : 0);
  }

  #servicePhases(): readonly ShutdownPhase[] {
    try {
      return this.#service?.shutdownPhases() ?? [];
    } catch (error) {
      this.#failed = true;
      this.#logger.error('the phases of stopping are not known', { error });
      return [];
    }
  }
}

function telemetryPhase(logger: Logger): ShutdownPhase {
  return { name: 'telemetry', timeoutMs: 3_000, run: () => stopTelemetry(logger) };
}
