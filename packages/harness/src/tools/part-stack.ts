import type { HarnessLogger } from '../logger.js';
import { ToolRuntimeError } from './tool-runtime-error.js';
import { thrownText } from './thrown-text.js';
import { untilAborted } from './until-aborted.js';

interface StoppablePart {
  stop?(): Promise<void>;
}

/** Handlers and middlewares that have started, so that they can be stopped in reverse order. */
export class PartStack {
  readonly #started: StoppablePart[] = [];

  constructor(
    private readonly stopTimeoutMs: number,
    private readonly logger: HarnessLogger,
  ) {}

  /**
   * Starts one more part.
   *
   * @throws What its start threw, or the signal's reason if that comes first; a start that still succeeds afterwards
   * is undone.
   */
  async start(part: StoppablePart, start: () => Promise<void> | void, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await untilAborted(Promise.resolve(start()), signal, () => void this.#tryStop(part));
    this.#started.push(part);
  }

  /** Stops everything, the newest first, whatever fails. Gives back the first failure. */
  async stopAll(): Promise<{ readonly error: unknown } | undefined> {
    let first: { readonly error: unknown } | undefined;
    for (let part = this.#started.pop(); part !== undefined; part = this.#started.pop()) {
      const failure = await this.#tryStop(part);
      first ??= failure;
    }
    return first;
  }

  async #tryStop(part: StoppablePart): Promise<{ readonly error: unknown } | undefined> {
    try {
      await withinMs(Promise.resolve(part.stop?.()), this.stopTimeoutMs);
      return undefined;
    } catch (error) {
      this.logger.warn('a tool handler or middleware did not stop well', { error: thrownText(error) });
      return { error };
    }
  }
}

async function withinMs(work: Promise<void>, ms: number): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new ToolRuntimeError('stop_timeout', `a tool handler or middleware did not stop within ${ms} ms`));
  }, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
