import { AppError, type Logger } from '@parley/service-kit';
import type { AgentEntry } from '../domain/agent-entry.js';
import { leaseView } from '../domain/agent-entry.js';
import { Catalogue, type CataloguePage } from '../domain/catalogue.js';
import { toManifestJson } from '../domain/manifest.js';
import { pageLimit } from '../domain/page.js';
import { parseRequirements, QueryRefusal } from '../domain/query.js';
import type { LeaseView } from '../domain/types.js';
import type { Authority, Ownership, RegistryStore, StoredAgreement } from '../store/store.js';
import type {
  AgreementReport,
  DiscoverInput,
  DiscoverOutcome,
  RegisterInput,
  RegisterOutcome,
  RegistryCore,
  RegistryEvent,
  RegistryHooks,
  RegistryListener,
  RegistrySettings,
  ReplicaStatus,
} from './core-types.js';
import { Replica } from './replica.js';
import { DEFAULT_SETTINGS } from './settings.js';

export interface RegistryCoreOptions {
  /** Stays open: whoever opened it closes it after `stop()`. */
  readonly store: RegistryStore;
  readonly logger: Logger;
  /** Default `Date.now`. */
  readonly now?: () => number;
  /** For `order=random`: 0 up to, not including, 1. Default `Math.random`. */
  readonly random?: () => number;
  readonly settings?: Partial<RegistrySettings>;
  readonly hooks?: RegistryHooks;
}

/** The registry as an edge sees it: reads from the memory of this replica, writes through the store. */
export function createRegistryCore(options: RegistryCoreOptions): RegistryCore {
  return new Core(options);
}

class Core implements RegistryCore {
  readonly #store: RegistryStore;
  readonly #logger: Logger;
  readonly #settings: RegistrySettings;
  readonly #catalogue: Catalogue;
  readonly #replica: Replica;

  constructor(options: RegistryCoreOptions) {
    const { store, logger } = options;
    this.#store = store;
    this.#logger = logger;
    this.#settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.#catalogue = new Catalogue(options.random === undefined ? {} : { random: options.random });
    this.#replica = new Replica({
      store,
      logger,
      catalogue: this.#catalogue,
      now: options.now ?? Date.now,
      settings: this.#settings,
      hooks: options.hooks ?? {},
    });
  }

  start(): Promise<void> {
    return this.#replica.start();
  }

  stop(): Promise<void> {
    return this.#replica.stop();
  }

  status(): ReplicaStatus {
    return this.#replica.status();
  }

  ping(): Promise<void> {
    return this.#store.ping();
  }

  async register(input: RegisterInput): Promise<RegisterOutcome> {
    const { agentId } = input.manifest;
    const { minTtlMs, maxTtlMs, defaultTtlMs } = this.#settings;
    const ttlMs = Math.min(Math.max(input.ttlMs ?? defaultTtlMs, minTtlMs), maxTtlMs);
    const result = await this.#store.register({
      agentId,
      manifestJson: input.manifestJson ?? toManifestJson(input.manifest),
      ttlMs,
      newTokenHash: input.newTokenHash,
      ...(input.callerTokenHash === undefined ? {} : { callerTokenHash: input.callerTokenHash }),
    });
    if (result.kind === 'taken') {
      throw new AppError('conflict', `An agent with the id ${agentId} lives already and belongs to somebody else.`, {
        code: 'agent_id_taken',
      });
    }
    if (result.kind === 'full') {
      throw new AppError('too_many_requests', 'The registry holds as many agents as it may.', {
        code: 'registry_full',
        retryAfterSeconds: 30,
      });
    }
    await this.#shown(result.revision);
    return { kind: result.kind, agentId, revision: result.revision, lease: leaseView(ttlMs, result.deadlineMs) };
  }

  async renew(agentId: string, tokenHash: string): Promise<LeaseView> {
    const result = await this.#store.renew(agentId, tokenHash);
    if (result.kind === 'unknown') {
      throw new AppError('not_found', `No lease of ${agentId} is running; the agent has to register in full.`, {
        code: 'lease_unknown',
      });
    }
    if (result.kind === 'forbidden') throw notOwner(agentId);
    const { deadlineMs, revision, ttlMs } = result;
    this.#replica.renewedHere({ agentId, revision, deadlineMs });
    return leaseView(ttlMs, deadlineMs);
  }

  async deregister(agentId: string, by: Authority): Promise<{ readonly revision: number }> {
    const result = await this.#store.deregister(agentId, by);
    if (result.kind === 'unknown') throw agentUnknown(agentId);
    if (result.kind === 'forbidden') throw notOwner(agentId);
    await this.#shown(result.revision);
    return { revision: result.revision };
  }

  verifyOwner(agentId: string, tokenHash: string): Promise<Ownership> {
    return this.#store.verifyOwner(agentId, tokenHash);
  }

  discover(input: DiscoverInput): DiscoverOutcome {
    const stale = this.#readable();
    return { ...this.#page(input), ...stale };
  }

  #page(input: DiscoverInput): CataloguePage {
    const { required, ...query } = input;
    try {
      return this.#catalogue.discover(
        required === undefined ? query : { ...query, required: parseRequirements(required) },
        this.#replica.readNowMs(),
      );
    } catch (error) {
      throw error instanceof QueryRefusal ? invalidQuery(error) : error;
    }
  }

  get(agentId: string): { readonly agent: AgentEntry; readonly staleSinceMs?: number } {
    const stale = this.#readable();
    const agent = this.#catalogue.get(agentId, this.#replica.readNowMs());
    if (agent === undefined) throw agentUnknown(agentId);
    return { agent, ...stale };
  }

  agents(): { readonly revision: number; readonly agents: Iterable<AgentEntry>; readonly staleSinceMs?: number } {
    const stale = this.#readable();
    return { revision: this.#replica.revision, agents: this.#catalogue.living(this.#replica.readNowMs()), ...stale };
  }

  subscribe(listener: RegistryListener): () => void {
    return this.#replica.feed.subscribe(listener);
  }

  changesAfter(revision: number): readonly RegistryEvent[] | 'too_old' {
    return this.#replica.feed.after(revision);
  }

  applied(revision: number, options: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    return this.#replica.applied(revision, options.timeoutMs ?? this.#settings.applyTimeoutMs);
  }

  async recordAgreement(report: AgreementReport): Promise<{ readonly recorded: boolean }> {
    const { recorded, revision } = await this.#store.recordAgreement(report);
    if (revision !== undefined) await this.#shown(revision);
    return { recorded };
  }

  async getAgreement(agreementId: string): Promise<StoredAgreement> {
    const found = await this.#store.getAgreement(agreementId);
    if (found !== undefined) return found;
    throw new AppError('not_found', `No agreement ${agreementId} is known here.`, { code: 'agreement_unknown' });
  }

  async listAgreements(
    filter: Parameters<RegistryCore['listAgreements']>[0],
  ): Promise<{ readonly agreements: readonly StoredAgreement[]; readonly nextCursor?: string }> {
    const { cursor, ...rest } = filter;
    const page = await this.#store.listAgreements({
      ...rest,
      ...agreementPlace(cursor),
      limit: agreementLimit(filter.limit),
    });
    if (page.nextAfterId === undefined) return { agreements: page.agreements };
    return { agreements: page.agreements, nextCursor: Buffer.from(page.nextAfterId).toString('base64url') };
  }

  livingCount(): number {
    return this.#catalogue.livingCount(this.#replica.readNowMs());
  }

  nowMs(): number {
    return this.#replica.readNowMs();
  }

  /** The write is done whatever happens here, so a replica that lags must not turn it into a failure. */
  async #shown(revision: number): Promise<void> {
    if (await this.applied(revision)) return;
    this.#logger.warn('A write was answered before this replica could show it', { revision });
  }

  #readable(): { readonly staleSinceMs?: number } {
    const status = this.#replica.status();
    if (status.state === 'live') return {};
    if (status.state === 'stale') return { staleSinceMs: status.staleSinceMs };
    const message =
      status.state === 'starting'
        ? 'The catalogue is not loaded yet.'
        : 'The store has been away for too long to answer from memory.';
    throw new AppError('unavailable', message, { code: 'store_unavailable', retryAfterSeconds: 1 });
  }
}

function agreementLimit(limit: number | undefined): number {
  try {
    return pageLimit(limit);
  } catch (error) {
    throw error instanceof QueryRefusal ? invalidQuery(error) : error;
  }
}

function agreementPlace(cursor: string | undefined): { readonly afterId?: string } {
  if (cursor === undefined) return {};
  const afterId = Buffer.from(cursor, 'base64url').toString();
  if (/^[\w-]{1,512}$/.test(cursor) && afterId !== '') return { afterId };
  throw invalidQuery(new QueryRefusal('invalid_cursor', 'cursor', 'is not a cursor of this registry'));
}

function invalidQuery({ path, message, code }: QueryRefusal): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { code, errors: [{ path, message }] });
}

function agentUnknown(agentId: string): AppError {
  return new AppError('not_found', `No agent ${agentId} is registered.`, { code: 'agent_unknown' });
}

function notOwner(agentId: string): AppError {
  return new AppError('forbidden', `This token does not own the registration of ${agentId}.`, { code: 'not_owner' });
}
