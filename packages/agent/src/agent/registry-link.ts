import type { Logger } from '@parley/service-kit';
import type { AgreementKeeper } from '../agreements/index.js';
import { LeaseKeeper, type HealthCheck, type LeaseEvent } from '../lease/index.js';
import type { RegistryClient } from '../registry-client/index.js';
import type { Manifest } from '../wire/manifest.js';
import { WitnessReporter } from './witness-reporter.js';

export interface RegistryLinkOptions {
  readonly client: RegistryClient;
  readonly manifest: Manifest;
  readonly keeper: Pick<AgreementKeeper, 'list'>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  readonly onLease: (event: LeaseEvent) => void;
  readonly ownerToken?: string;
  readonly healthCheck?: HealthCheck;
}

export interface LeaveOptions {
  /** False leaves the registration to other replicas of the agent, which keep it. Default true. */
  readonly deregister?: boolean;
}

/** Living agreements reported after a registration, newest first. */
const MAX_TOLD_AGAIN = 500;

/** An agent at one registry where it is registered: its lease, and what it reports there. */
export class RegistryLink {
  readonly lease: LeaseKeeper;
  readonly reporter: WitnessReporter;
  readonly #keeper: RegistryLinkOptions['keeper'];
  readonly #logger: Logger;

  constructor(options: RegistryLinkOptions) {
    const { client, manifest, keeper, logger, now, random, onLease, ownerToken, healthCheck } = options;
    this.#keeper = keeper;
    this.#logger = logger;
    this.lease = new LeaseKeeper({
      client,
      manifest,
      logger,
      now,
      random,
      onEvent: (event) => {
        if (event.type === 'registered') void this.#reportLiving();
        onLease(event);
      },
      ...(ownerToken === undefined ? {} : { ownerToken }),
      ...(healthCheck === undefined ? {} : { healthCheck }),
    });
    this.reporter = new WitnessReporter({ client, ownerToken: () => this.lease.ownerToken, logger, random });
  }

  /** What is still to be reported goes out first, while the registration stands. */
  async stop(flushMs: number, options: LeaveOptions): Promise<void> {
    await this.reporter.flush(flushMs);
    await this.reporter.stop();
    await this.lease.stop(options);
  }

  /** A registry that lost its memory, or a new one, knows nothing of what was agreed before. */
  async #reportLiving(): Promise<void> {
    try {
      for (const state of ['active', 'suspended'] as const) {
        const { agreements } = await this.#keeper.list({ state, limit: MAX_TOLD_AGAIN });
        for (const agreement of agreements) this.reporter.report(agreement);
      }
    } catch (error) {
      this.#logger.debug('The agreements that live could not be reported', { error });
    }
  }
}
