import type { Logger } from '@parley/service-kit';
import { LeaseKeeper, type HealthCheck, type LeaseEvent } from '../lease/index.js';
import type { RegistryClient } from '../registry-client/index.js';
import type { Manifest } from '../wire/manifest.js';
import { WitnessReporter } from './witness-reporter.js';

export interface RegistryLinkOptions {
  readonly client: RegistryClient;
  readonly manifest: Manifest;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  readonly onLease: (event: LeaseEvent) => void;
  readonly ownerToken?: string;
  readonly healthCheck?: HealthCheck;
}

/** An agent at one registry where it is registered: its lease, and what it reports there. */
export class RegistryLink {
  readonly lease: LeaseKeeper;
  readonly reporter: WitnessReporter;

  constructor(options: RegistryLinkOptions) {
    const { client, manifest, logger, now, random, onLease, ownerToken, healthCheck } = options;
    this.lease = new LeaseKeeper({
      client,
      manifest,
      logger,
      now,
      random,
      onEvent: onLease,
      ...(ownerToken === undefined ? {} : { ownerToken }),
      ...(healthCheck === undefined ? {} : { healthCheck }),
    });
    this.reporter = new WitnessReporter({ client, ownerToken: () => this.lease.ownerToken, logger, random });
  }

  /** What is still to be reported goes out first, while the registration stands. */
  async stop(flushMs: number): Promise<void> {
    await this.reporter.flush(flushMs);
    await this.reporter.stop();
    await this.lease.stop();
  }
}
