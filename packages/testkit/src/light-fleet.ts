import { Agent as Connections } from 'node:http';
import { askHttp } from './ask-http.js';
import { onTestsEnd } from './children.js';

export interface LightFleetOptions {
  /** Each agent uses them in turn, so that renewals arrive at another replica than the one before. */
  readonly registryUrls: readonly string[];
  readonly size: number;
  readonly leaseSeconds: number;
  /** Begins every id. Default `fleet`. */
  readonly prefix?: string;
  /** 0 up to, not including, 1. Default `Math.random`. */
  readonly random?: () => number;
}

export interface FleetCounts {
  registrations: number;
  renewals: number;
  /** Answers that the lease was not known, upon which the agent registered anew. */
  unknownLeases: number;
  /** Those of them that came although the registry had promised the lease for longer. */
  brokenPromises: number;
  /** Registrations and renewals that failed otherwise, each was repeated. */
  failures: number;
  /** Between question and answer of a renewal. */
  maxRenewMs: number;
  /** How much later than planned a renewal was sent: this process was busy, not the registry. */
  maxLatenessMs: number;
}

export interface LightFleet {
  readonly ids: readonly string[];
  readonly counts: Readonly<FleetCounts>;
  /** Until when the registry promised the lease of an agent, ms since the epoch by its clock. */
  promisedUntilMs(agentId: string): number | undefined;
  /** Ends all renewing and waits for what is under way; nobody deregisters. */
  stop(): Promise<void>;
}

/** So many registrations are under way at once while a fleet starts. */
const STARTING_AT_ONCE = 16;
const RETRY_MS = 200;

/**
 * Many agents in one process: each registers and renews at a third of its lease, and does nothing else. Settles when
 * each of them has had its first answer. Also stopped at the end of the test file.
 */
export async function startLightFleet(options: LightFleetOptions): Promise<LightFleet> {
  const { size, prefix = 'fleet' } = options;
  const fleet = new Fleet(options);
  const ids = Array.from({ length: size }, (_, index) => `${prefix}-${String(index)}`);
  const waiting = [...ids.entries()];
  const start = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await fleet.add(next[1], next[0]);
  };
  const stop = async () => {
    forget();
    await fleet.stop();
  };
  const forget = onTestsEnd(stop);
  await Promise.all(Array.from({ length: STARTING_AT_ONCE }, start));
  return { ids, counts: fleet.counts, promisedUntilMs: (id) => fleet.promised.get(id), stop };
}

interface Lease {
  readonly expires_at: string;
  readonly renew_every_seconds: number;
}

class Fleet {
  readonly counts: FleetCounts = {
    registrations: 0,
    renewals: 0,
    unknownLeases: 0,
    brokenPromises: 0,
    failures: 0,
    maxRenewMs: 0,
    maxLatenessMs: 0,
  };
  readonly promised = new Map<string, number>();
  readonly #options: LightFleetOptions;
  readonly #random: () => number;
  readonly #connections = new Connections({ keepAlive: true, maxSockets: 32 });
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #underWay = new Set<Promise<void>>();
  #stopped = false;

  constructor(options: LightFleetOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  async add(id: string, turn: number): Promise<void> {
    await this.#register(id, turn);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#underWay);
    this.#connections.destroy();
  }

  async #register(id: string, turn: number): Promise<void> {
    const manifest = {
      agent_id: id,
      name: id,
      endpoint: 'http://127.0.0.1:9',
      capabilities: ['fleet', `shard-${String(turn % 10)}`],
      ttl_seconds: this.#options.leaseSeconds,
    };
    const answer = await this.#call('POST', turn, '/register', id, JSON.stringify(manifest));
    if (answer?.status === 200 || answer?.status === 201) {
      this.counts.registrations += 1;
      this.#hold(id, turn, answer.lease);
      return;
    }
    this.counts.failures += 1;
    this.#after(RETRY_MS, id, () => this.#register(id, turn + 1));
  }

  async #renew(id: string, turn: number): Promise<void> {
    const askedAt = performance.now();
    const hadTime = Date.now() < (this.promised.get(id) ?? 0);
    const answer = await this.#call('PUT', turn, `/agents/${id}/lease`, id);
    this.counts.maxRenewMs = Math.max(this.counts.maxRenewMs, performance.now() - askedAt);
    if (answer?.status === 200) {
      this.counts.renewals += 1;
      this.#hold(id, turn, answer.lease);
    } else if (answer?.status === 404) {
      this.counts.unknownLeases += 1;
      // Sent in time and yet too late at the registry: nobody broke anything.
      if (hadTime && Date.now() < (this.promised.get(id) ?? 0)) this.counts.brokenPromises += 1;
      await this.#register(id, turn);
    } else {
      this.counts.failures += 1;
      this.#after(RETRY_MS, id, () => this.#renew(id, turn + 1));
    }
  }

  #hold(id: string, turn: number, lease: Lease | undefined): void {
    if (lease === undefined) throw new Error(`the answer about ${id} has no lease`);
    this.promised.set(id, Date.parse(lease.expires_at));
    const pauseMs = lease.renew_every_seconds * 1_000 * (0.9 + 0.2 * this.#random());
    this.#after(pauseMs, id, () => this.#renew(id, turn + 1));
  }

  #after(pauseMs: number, id: string, step: () => Promise<void>): void {
    if (this.#stopped) return;
    const plannedAt = performance.now() + pauseMs;
    const run = () => {
      this.counts.maxLatenessMs = Math.max(this.counts.maxLatenessMs, performance.now() - plannedAt);
      const work: Promise<void> = step().finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
    };
    this.#timers.set(id, setTimeout(run, pauseMs));
  }

  /** Undefined when there was no answer. */
  async #call(
    method: string,
    turn: number,
    path: string,
    id: string,
    body?: string,
  ): Promise<{ readonly status: number; readonly lease: Lease | undefined } | undefined> {
    const { registryUrls } = this.#options;
    const base = registryUrls[turn % registryUrls.length];
    if (base === undefined) throw new Error('no registry was given');
    const headers = { authorization: `Bearer owner-of-${id}-0123456789abcdef`, 'content-type': 'application/json' };
    const reply = await askHttp({ method, url: `${base}${path}`, connections: this.#connections, headers, body });
    if (reply === undefined) return undefined;
    const { lease } = JSON.parse(reply.body) as { lease?: Lease };
    return { status: reply.status, lease };
  }
}
