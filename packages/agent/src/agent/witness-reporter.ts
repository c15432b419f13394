import { AppError, type Logger } from '@parley/service-kit';
import { backoffMs } from '../peer/backoff.js';
import { deadline } from '../peer/deadline.js';
import { wait } from '../peer/wait.js';
import type { RegistryClient } from '../registry-client/index.js';
import type { Agreement } from '../wire/agreement.js';

export interface WitnessReporterOptions {
  readonly client: Pick<RegistryClient, 'reportAgreement' | 'target'>;
  /** Read at each report: it may change with a registration. */
  readonly ownerToken: () => string;
  readonly logger: Logger;
  readonly random: () => number;
  /** Agreements that wait to be reported; the oldest is left out first. Default 1,000. */
  readonly maxQueued?: number;
}

const BACKOFF = { baseMs: 200, capMs: 10_000 };
/** One after the other, a busy responder would fall behind its own agreements. */
const MAX_AT_ONCE = 8;

/**
 * Tells the registry what became of the agreements kept here: each transition in order, repeated until it is taken.
 * A pending agreement is not told: nobody has agreed yet.
 */
export class WitnessReporter {
  readonly #options: WitnessReporterOptions;
  readonly #queue = new Map<string, Agreement>();
  readonly #closing = new AbortController();
  #working: Promise<void> | undefined;

  constructor(options: WitnessReporterOptions) {
    this.#options = options;
  }

  report(agreement: Agreement): void {
    if (this.#closing.signal.aborted || agreement.state === 'pending') return;
    this.#queue.set(keyOf(agreement), agreement);
    const [oldest] = this.#queue.keys();
    if (this.#queue.size > (this.#options.maxQueued ?? 1_000) && oldest !== undefined) {
      this.#queue.delete(oldest);
      this.#options.logger.warn('Too many agreements wait to be reported; one is left out', { agreement_id: oldest });
    }
    this.#start();
  }

  /** Waits until everything is reported, at most so long. */
  async flush(withinMs: number): Promise<void> {
    const limit = deadline(withinMs);
    const over = new Promise<void>((resolve) => {
      limit.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.#working ?? Promise.resolve(), over]);
    limit.clear();
  }

  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  #start(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      // Something may have come between the last look at the queue and now.
      if (this.#queue.size > 0 && !this.#closing.signal.aborted) this.#start();
    });
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    for (;;) {
      const due = this.#due();
      if (due.length === 0 || signal.aborted) return;
      const taken = await Promise.all(due.map((agreement) => this.#send(agreement, signal)));
      for (const [at, agreement] of due.entries()) if (taken[at] === true) this.#queue.delete(keyOf(agreement));
      if (taken.every(Boolean)) failures = 0;
      else {
        if (failures === 0)
          this.#options.logger.warn(`Agreements cannot be reported to ${this.#options.client.target}; asking again`);
        await wait(backoffMs(failures, { ...BACKOFF, random: this.#options.random }), signal);
        failures += 1;
      }
    }
  }

  /** The oldest transition of each of the agreements that have waited longest: within one agreement, order counts. */
  #due(): readonly Agreement[] {
    const due = new Map<string, Agreement>();
    for (const agreement of this.#queue.values()) {
      if (!due.has(agreement.agreement_id)) due.set(agreement.agreement_id, agreement);
      if (due.size === MAX_AT_ONCE) break;
    }
    return [...due.values()];
  }

  /** False: to be repeated. */
  async #send(agreement: Agreement, signal: AbortSignal): Promise<boolean> {
    const { client, ownerToken, logger } = this.#options;
    try {
      await client.reportAgreement(agreement, { ownerToken: ownerToken(), signal });
      return true;
    } catch (thrown) {
      const error = AppError.from(thrown);
      if (!isRefused(error)) return false;
      logger.warn('The registry does not take the report of an agreement', {
        agreement_id: agreement.agreement_id,
        code: error.code,
        detail: error.message,
      });
      return true;
    }
  }
}

/** `not_found` is no refusal: the agent's registration may be under way again. */
function isRefused(error: AppError): boolean {
  return ['invalid_request', 'forbidden', 'unauthenticated', 'conflict', 'payload_too_large', 'gone'].includes(
    error.reason,
  );
}

function keyOf({ agreement_id: id, version }: Agreement): string {
  return `${id} ${String(version)}`;
}
