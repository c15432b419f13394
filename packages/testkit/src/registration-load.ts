import { Agent as Connections } from 'node:http';
import { askHttp, type HttpReply } from './ask-http.js';
import { onTestsEnd } from './children.js';

export interface RegistrationLoadCounts {
  registrations: number;
  renewals: number;
  /** Writes that were refused or not answered; each was repeated. */
  failures: number;
  /** Renewals that were told that nobody knows the lease. Each was followed by a registration. */
  unknownLeases: number;
  /** Discoveries that were answered as of now. */
  discoveries: number;
  /** Discoveries that were answered as of some time before, and said so. */
  staleDiscoveries: number;
  /** Discoveries that failed. */
  blindDiscoveries: number;
}

export interface RegistrationLoad {
  /** Every agent whose registration was acknowledged, with the time until which its lease is promised. */
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly counts: Readonly<RegistrationLoadCounts>;
  /** Answers of discovery as of now that lacked an agent of {@link RegistrationLoad.settled}: who, at which registry. */
  readonly absences: readonly string[];
  /** Acknowledged three seconds ago or earlier, with a lease that is promised for a second or more: to be found everywhere. */
  settled(): string[];
  /** The longest time without a successful write since a time of `performance.now()`. */
  longestPauseMs(since: number): number;
  /** Who is settled and not among those that a registry lists. */
  lostAt(registryUrl: string): Promise<string[]>;
  /** Settles when what is under way has ended. Nobody deregisters. */
  stop(): Promise<void>;
}

/** A new agent that often. */
const EVERY_MS = 25;
/** A discovery shows all of them on one page. */
const MAX_AGENTS = 600;
/** Each renews at a third of it, and registers again when its lease is not known. */
const LEASE_SECONDS = 6;
const CAPABILITY = 'registration-load';
const RETRY_MS = 20;
const LOOK_EVERY_MS = 50;
/** A registry whose knowledge is older than 2.5 s says that it is stale; what is younger it may not have heard of. */
const HEARD_OF_MS = 3_000;
/** What is promised holds until it was looked for. */
const PROMISED_MS = 1_000;

/**
 * Agents that come one after another and stay, and somebody at each registry who asks all the time for all of them. The
 * registries are used in turn; another one after a failure.
 */
export function startRegistrationLoad(registryUrls: readonly string[]): RegistrationLoad {
  const load = new Load(registryUrls);
  const forget = onTestsEnd(() => load.stop());
  return {
    acknowledged: load.acknowledged,
    counts: load.counts,
    absences: load.absences,
    settled: () => load.settled(),
    longestPauseMs: (since) => load.longestPauseMs(since),
    lostAt: async (url) => {
      const settled = load.settled();
      const { found } = await load.discover(url);
      return settled.filter((id) => !found.has(id));
    },
    stop: () => {
      forget();
      return load.stop();
    },
  };
}

class Load {
  readonly acknowledged = new Map<string, number>();
  readonly absences: string[] = [];
  readonly counts: RegistrationLoadCounts = {
    registrations: 0,
    renewals: 0,
    failures: 0,
    unknownLeases: 0,
    discoveries: 0,
    staleDiscoveries: 0,
    blindDiscoveries: 0,
  };
  readonly #urls: readonly string[];
  readonly #connections = new Connections({ keepAlive: true, maxSockets: 64 });
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #underWay = new Set<Promise<void>>();
  /** When each write succeeded, oldest first. */
  readonly #written: number[] = [];
  /** When each was acknowledged first. */
  readonly #since = new Map<string, number>();
  #turn = 0;
  #stopped = false;

  constructor(registryUrls: readonly string[]) {
    this.#urls = registryUrls;
    let made = 0;
    const more = (): void => {
      if (made >= MAX_AGENTS) return;
      const id = `load-${String(made)}`;
      made += 1;
      this.#after(0, () => this.#register(id));
      this.#after(EVERY_MS, more);
    };
    more();
    for (const url of registryUrls) this.#after(0, () => this.#look(url));
  }

  longestPauseMs(since: number): number {
    const times = this.#written.filter((at) => at >= since);
    return Math.max(0, ...times.map((at, index) => at - (times[index - 1] ?? since)));
  }

  settled(): string[] {
    const now = Date.now();
    return [...this.acknowledged]
      .filter(([id, until]) => until >= now + PROMISED_MS && (this.#since.get(id) ?? now) <= now - HEARD_OF_MS)
      .map(([id]) => id);
  }

  async discover(url: string): Promise<{ readonly found: ReadonlySet<string>; readonly isStale: boolean }> {
    const wanted = `${url}/discover?capabilities=${CAPABILITY}&limit=1000`;
    const reply = await askHttp({ method: 'GET', url: wanted, connections: this.#connections });
    if (reply?.status !== 200) throw new Error(`${url} answered ${String(reply?.status)}: ${String(reply?.body)}`);
    const body = JSON.parse(reply.body) as { agents: { agent_id: string }[]; stale_since?: string };
    return { found: new Set(body.agents.map(({ agent_id }) => agent_id)), isStale: body.stale_since !== undefined };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#underWay);
    this.#connections.destroy();
  }

  async #register(id: string): Promise<void> {
    const body = JSON.stringify({
      ...{ agent_id: id, name: id, endpoint: 'http://127.0.0.1:9' },
      ...{ capabilities: [CAPABILITY], ttl_seconds: LEASE_SECONDS },
    });
    const reply = await this.#write('POST', '/register', id, body);
    if (reply?.status !== 200 && reply?.status !== 201) {
      this.#again(() => this.#register(id));
      return;
    }
    this.counts.registrations += 1;
    this.#holds(id, reply);
  }

  async #renew(id: string): Promise<void> {
    const reply = await this.#write('PUT', `/agents/${id}/lease`, id);
    if (reply?.status === 404) {
      this.counts.unknownLeases += 1;
      await this.#register(id);
    } else if (reply?.status === 200) {
      this.counts.renewals += 1;
      this.#holds(id, reply);
    } else {
      this.#again(() => this.#renew(id));
    }
  }

  #holds(id: string, { body }: HttpReply): void {
    const { lease } = JSON.parse(body) as { lease: { expires_at: string } };
    this.#written.push(performance.now());
    this.acknowledged.set(id, Date.parse(lease.expires_at));
    if (!this.#since.has(id)) this.#since.set(id, Date.now());
    this.#after((LEASE_SECONDS * 1_000) / 3, () => this.#renew(id));
  }

  #again(step: () => Promise<void>): void {
    this.counts.failures += 1;
    this.#after(RETRY_MS, step);
  }

  async #look(url: string): Promise<void> {
    const wanted = this.settled();
    try {
      const { found, isStale } = await this.discover(url);
      if (isStale) this.counts.staleDiscoveries += 1;
      else this.counts.discoveries += 1;
      // Judged as of the answer: a lease may have ended while it was waited for.
      const still = new Set(this.settled());
      const missing = isStale ? [] : wanted.filter((id) => still.has(id) && !found.has(id));
      if (missing.length > 0) this.absences.push(`${url}: ${missing.join(', ')}`);
    } catch {
      this.counts.blindDiscoveries += 1;
    }
    this.#after(LOOK_EVERY_MS, () => this.#look(url));
  }

  #after(ms: number, step: () => Promise<void> | void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const work: Promise<void> = Promise.resolve(step()).finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
    }, ms);
    this.#timers.add(timer);
  }

  #write(method: string, path: string, id: string, body?: string): Promise<HttpReply | undefined> {
    this.#turn += 1;
    const url = `${this.#urls[this.#turn % this.#urls.length] ?? ''}${path}`;
    const authorization = `Bearer owner-of-${id}-0123456789abcdef`;
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    return askHttp({ method, url, connections: this.#connections, headers, body });
  }
}
