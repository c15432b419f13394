import type { Logger } from '@parley/service-kit';
import type { AgreementKeeper } from '../agreements/index.js';
import type { LeaseEvent } from '../lease/index.js';
import { connectRegistry, type RegistryClient } from '../registry-client/index.js';
import type { Agreement } from '../wire/agreement.js';
import type { Manifest } from '../wire/manifest.js';
import type { AgentOptions } from './agent-options.js';
import type { BackgroundWork } from './background-work.js';
import { RegistryLink, type LeaveOptions } from './registry-link.js';

export interface RegistriesDeps {
  readonly options: Pick<AgentOptions, 'registryClient' | 'joinToken' | 'ownerToken' | 'healthCheck'>;
  readonly manifest: Manifest;
  readonly keeper: AgreementKeeper;
  readonly background: BackgroundWork;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  readonly onLease: (event: LeaseEvent, registry: string) => void;
  /** Called once for each registry, before it is asked for anything. */
  readonly onClient: (client: RegistryClient) => void;
}

/** The registries that an agent asks, and those of them where it is registered. */
export class Registries {
  readonly #deps: RegistriesDeps;
  readonly #clients = new Map<string, RegistryClient>();
  readonly #links = new Map<string, RegistryLink>();

  constructor(deps: RegistriesDeps) {
    this.#deps = deps;
  }

  /** The one that was asked first. */
  get first(): RegistryClient | undefined {
    return this.#clients.values().next().value;
  }

  client(registryUrl: string): RegistryClient {
    const known = this.#clients.get(registryUrl);
    if (known !== undefined) return known;
    const { now, random, onClient } = this.#deps;
    const { registryClient, joinToken } = this.#deps.options;
    const shared = { now, random, ...(joinToken === undefined ? {} : { joinToken }) };
    const client = registryClient?.(registryUrl) ?? connectRegistry(registryUrl, shared);
    this.#clients.set(registryUrl, client);
    onClient(client);
    return client;
  }

  /**
   * Registers and stays registered. Resolves with the first registration, which is tried for ever.
   * @throws AppError when the registry refuses for good, or the signal is aborted (the trying ends then).
   */
  async register(registryUrl: string, signal: AbortSignal | undefined): Promise<void> {
    const client = this.client(registryUrl);
    const link = this.#links.get(client.target) ?? this.#link(client);
    const giveUp = (): void => {
      this.#links.delete(client.target);
      this.#deps.background.add(link.lease.stop());
    };
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener('abort', giveUp, { once: true });
    try {
      await link.lease.start();
    } catch (error) {
      this.#links.delete(client.target);
      throw error;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Tells all where it is registered of an agreement. */
  report(agreement: Agreement): void {
    for (const link of this.#links.values()) link.reporter.report(agreement);
  }

  /** Never rejects. */
  async leave(timeoutMs: number, options: LeaveOptions): Promise<void> {
    await Promise.allSettled([...this.#links.values()].map((link) => link.stop(timeoutMs, options)));
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#clients.values()].map((client) => client.close()));
  }

  #link(client: RegistryClient): RegistryLink {
    const { manifest, keeper, logger, now, random, onLease } = this.#deps;
    const { ownerToken, healthCheck } = this.#deps.options;
    const link = new RegistryLink({
      client,
      manifest,
      keeper,
      logger,
      now,
      random,
      onLease: (event) => {
        onLease(event, client.target);
      },
      ...(ownerToken === undefined ? {} : { ownerToken }),
      ...(healthCheck === undefined ? {} : { healthCheck }),
    });
    this.#links.set(client.target, link);
    return link;
  }
}
