import type { Logger } from '@parley/service-kit';
import { MAX_TIMER_MS } from '../peer/wait.js';
import type { RegisteredAgent, RegistryClient, WatchEvent } from '../registry-client/index.js';

/** What the registrations of partners mean for the agreements with them. */
export interface PartnerListener {
  readonly lapsed: (agentId: string) => void;
  readonly back: (agentId: string, sameOwner: boolean) => void;
  readonly gone: (agentId: string) => void;
  readonly connection: (up: boolean) => void;
}

export interface PartnerWatchOptions {
  readonly client: Pick<RegistryClient, 'watch'>;
  readonly listener: PartnerListener;
  readonly logger: Logger;
  /** A partner that is missing after the registry was away has so long to come back. */
  readonly absenceGraceMs: number;
}

/** Changes of the partners are gathered for so long before the watch is opened anew. */
const SETTLE_MS = 100;
/** With more partners the watch asks for all agents, and the rest is left out here. */
const MAX_FILTERED = 200;

interface Partner {
  /** Where it was registered when last seen; undefined: never seen, so nothing can lapse. */
  endpoint?: string;
  lapsed: boolean;
  grace?: NodeJS.Timeout;
}

/**
 * Follows the registrations of those with whom there are agreements: one watch, only while there are any, and nothing
 * waits for it. A partner that was never registered (a plain client) has no registration that could lapse.
 */
export class PartnerWatch {
  readonly #options: PartnerWatchOptions;
  readonly #partners = new Map<string, Partner>();
  #watching: AbortController | undefined;
  /** Of whom the present watch tells. */
  #covers: (agentId: string) => boolean = () => false;
  #settle: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PartnerWatchOptions) {
    this.#options = options;
  }

  /** The partners from now on. */
  follow(agentIds: ReadonlySet<string>): void {
    for (const id of [...this.#partners.keys()]) if (!agentIds.has(id)) this.remove(id);
    for (const id of agentIds) this.add(id);
  }

  /** One more partner. There may be thousands, so what is known of the others is not looked at. */
  add(agentId: string): void {
    if (this.#stopped || this.#partners.has(agentId)) return;
    this.#partners.set(agentId, { lapsed: false });
    if (!this.#covers(agentId)) this.#restartSoon();
  }

  remove(agentId: string): void {
    const partner = this.#partners.get(agentId);
    if (partner === undefined) return;
    clearTimeout(partner.grace);
    this.#partners.delete(agentId);
    if (this.#partners.size === 0 && this.#watching !== undefined) this.#restartSoon();
  }

  #restartSoon(): void {
    this.#settle ??= setTimeout(() => {
      this.#settle = undefined;
      this.#restart();
    }, SETTLE_MS).unref();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#settle);
    this.#watching?.abort();
    for (const { grace } of this.#partners.values()) clearTimeout(grace);
    this.#partners.clear();
  }

  #restart(): void {
    this.#watching?.abort();
    this.#watching = undefined;
    this.#covers = () => false;
    if (this.#stopped || this.#partners.size === 0) return;
    const ids = new Set(this.#partners.keys());
    const filtered = ids.size <= MAX_FILTERED;
    this.#covers = filtered ? (id) => ids.has(id) : () => true;
    this.#watching = new AbortController();
    void this.#watch(this.#watching.signal, filtered ? [...ids] : undefined);
  }

  async #watch(signal: AbortSignal, agentIds: readonly string[] | undefined): Promise<void> {
    const { client, listener, logger } = this.#options;
    const present = new Set<string>();
    try {
      const events = client.watch({
        signal,
        onConnection: listener.connection,
        ...(agentIds === undefined ? {} : { agentIds }),
      });
      for await (const event of events) {
        if (signal.aborted) return;
        this.#take(event, present);
      }
    } catch (error) {
      if (!signal.aborted) logger.error('The watch of the partners ended', { error });
    }
  }

  #take(event: WatchEvent, present: Set<string>): void {
    const { agent_id: agentId = event.agent?.agent_id } = event;
    switch (event.type) {
      case 'snapshot':
        for (const agent of event.agents ?? []) {
          present.add(agent.agent_id);
          this.#seen(agent);
        }
        if (event.complete !== true) return;
        for (const id of this.#partners.keys()) if (!present.has(id)) this.#missing(id);
        present.clear();
        return;
      case 'resync':
        present.clear();
        return;
      case 'registered':
      case 'updated':
        if (event.agent !== undefined) this.#seen(event.agent, event.type === 'updated');
        return;
      case 'expired':
        if (agentId !== undefined) this.#lapsed(agentId);
        return;
      case 'deregistered':
        if (agentId !== undefined) this.#gone(agentId);
        return;
      default:
    }
  }

  /** @param sameOwner an update of a living registration needs its owner's token. */
  #seen({ agent_id: agentId, endpoint }: RegisteredAgent, sameOwner = false): void {
    const partner = this.#partners.get(agentId);
    if (partner === undefined) return;
    clearTimeout(partner.grace);
    delete partner.grace;
    // The registry tells nobody who owns a registration; one at the same place is taken for the same.
    const same = sameOwner || partner.endpoint === undefined || partner.endpoint === endpoint;
    partner.endpoint = endpoint;
    if (!partner.lapsed) return;
    partner.lapsed = false;
    this.#options.listener.back(agentId, same);
  }

  /** Not in a snapshot: it may have lapsed unseen, or everybody has to register anew because the registry lost its memory. */
  #missing(agentId: string): void {
    const partner = this.#partners.get(agentId);
    if (partner?.endpoint === undefined || partner.lapsed || partner.grace !== undefined) return;
    const graceMs = Math.min(this.#options.absenceGraceMs, MAX_TIMER_MS);
    partner.grace = setTimeout(() => {
      delete partner.grace;
      this.#lapsed(agentId);
    }, graceMs).unref();
  }

  #lapsed(agentId: string): void {
    const partner = this.#partners.get(agentId);
    if (partner === undefined || partner.lapsed) return;
    clearTimeout(partner.grace);
    delete partner.grace;
    partner.lapsed = true;
    this.#options.listener.lapsed(agentId);
  }

  #gone(agentId: string): void {
    const partner = this.#partners.get(agentId);
    if (partner === undefined) return;
    clearTimeout(partner.grace);
    delete partner.grace;
    partner.lapsed = false;
    this.#options.listener.gone(agentId);
  }
}
