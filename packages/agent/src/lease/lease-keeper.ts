import { randomBytes } from 'node:crypto';
import { AppError, quoteList, type Logger } from '@parley/service-kit';
import { backoffMs, jitter } from '../peer/backoff.js';
import { wait } from '../peer/wait.js';
import type { RegistryClient } from '../registry-client/registry-client.js';
import type { Manifest } from '../wire/manifest.js';
import { isHealthy, type HealthCheck } from './health.js';
import type { LeaseEvent, LeaseState } from './lease-state.js';

export interface LeaseKeeperOptions {
  readonly client: Pick<RegistryClient, 'register' | 'renew' | 'deregister' | 'target'>;
  readonly manifest: Manifest;
  readonly logger: Logger;
  /**
   * At least 22 characters. With a configured one an agent that crashed replaces itself at once after its restart.
   * Default: a random one made here, so that a lost answer to a registration does not lock the agent out.
   */
  readonly ownerToken?: string;
  readonly healthCheck?: HealthCheck;
  /** Time between two health checks. Default 5,000. */
  readonly healthIntervalMs?: number;
  /** First and longest wait after a failure. Default 200 and 10,000. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  readonly now?: () => number;
  readonly random?: () => number;
  /** Must not throw. */
  readonly onEvent?: (event: LeaseEvent) => void;
}

/** What one step of the loop decides: how long until the next. */
type Pause = number;

/** The time a deregistration may take when the agent stops. */
const FAREWELL_MS = 1_000;
/** No renewal is asked for more often, whatever lease was granted. */
const MIN_PAUSE_MS = 50;

/**
 * Keeps one agent registered at one registry: registers (for ever, with backoff), renews at a third of the lease,
 * registers again in full when the lease is unknown, and keeps quiet hold of it while the registry is away.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #backoff: { readonly baseMs: number; readonly capMs: number };
  readonly #ending = new AbortController();
  readonly #first = Promise.withResolvers<undefined>();
  #state: LeaseState = { kind: 'idle' };
  #ownerToken: string;
  #everAsked = false;
  #everHeld = false;
  #healthAt = 0;
  #running: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#backoff = options.backoff ?? { baseMs: 200, capMs: 10_000 };
    this.#ownerToken = options.ownerToken ?? randomBytes(32).toString('base64url');
    // Whoever does not wait for the first registration hears of it through the events.
    this.#first.promise.catch(() => undefined);
  }

  get state(): LeaseState {
    return this.#state;
  }

  /** Shown to the registry with reports about agreements. */
  get ownerToken(): string {
    return this.#ownerToken;
  }

  /**
   * Begins, and resolves with the first registration. Goes on trying while the registry is away or the id is taken.
   * @throws AppError when the registry refuses for good (the manifest, the join token), or when stopped before.
   */
  start(): Promise<void> {
    this.#running ??= this.#run();
    return this.#first.promise;
  }

  /**
   * Ends the loop and deregisters, within a second even if the registry is away.
   * @param options.deregister default true; false leaves the registration to others who keep it.
   */
  stop(options: { readonly deregister?: boolean } = {}): Promise<void> {
    this.#stopping ??= this.#end(options.deregister ?? true);
    return this.#stopping;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      let pause: Pause;
      try {
        pause = await this.#step(signal);
      } catch (error) {
        // Nothing here may end the loop but stop().
        this.#options.logger.error('Keeping the lease failed', { error });
        pause = this.#backoff.capMs;
      }
      await wait(Math.max(MIN_PAUSE_MS, pause), signal);
    }
  }

  async #step(signal: AbortSignal): Promise<Pause> {
    if (!(await this.#checkHealth(signal))) return this.#options.healthIntervalMs ?? 5_000;
    if (signal.aborted) return 0;
    const state = this.#state;
    if (state.kind === 'held' && this.#now() < state.renewAt) return this.#untilNext(state.renewAt);
    return state.kind === 'held' || state.kind === 'late' ? this.#renew(state, signal) : this.#register(signal);
  }

  /** Not past the next health check. */
  #untilNext(at: number): Pause {
    const rest = at - this.#now();
    return this.#options.healthCheck === undefined ? rest : Math.min(rest, Math.max(0, this.#healthAt - this.#now()));
  }

  async #checkHealth(signal: AbortSignal): Promise<boolean> {
    const { healthCheck, logger } = this.#options;
    if (healthCheck === undefined) return true;
    const wasUnhealthy = this.#state.kind === 'unhealthy';
    if (!wasUnhealthy && this.#now() < this.#healthAt) return true;
    const healthy = await isHealthy(healthCheck, signal);
    this.#healthAt = this.#now() + (this.#options.healthIntervalMs ?? 5_000);
    if (signal.aborted || healthy !== wasUnhealthy) return healthy;
    if (healthy) {
      logger.info('The agent is healthy again');
      this.#enter({ kind: 'registering', attempts: 0 }, { type: 'healthy' });
      return true;
    }
    logger.error('The agent is not healthy and leaves the registry');
    this.#enter({ kind: 'unhealthy' }, { type: 'unhealthy' });
    await this.#deregister(signal);
    return false;
  }

  async #register(signal: AbortSignal): Promise<Pause> {
    const { client, manifest, logger } = this.#options;
    const attempts = this.#state.kind === 'registering' ? this.#state.attempts : 0;
    if (this.#state.kind !== 'registering') this.#state = { kind: 'registering', attempts };
    const askedAt = this.#now();
    this.#everAsked = true;
    try {
      const answer = await client.register(manifest, { ownerToken: this.#ownerToken, signal });
      if (answer.owner_token !== undefined) this.#ownerToken = answer.owner_token;
      logger.info(`Registered ${manifest.agent_id} ${quoteList(manifest.capabilities)} at ${client.target}`, {
        ttl_seconds: answer.lease.ttl_seconds,
        revision: answer.revision,
      });
      this.#everHeld = true;
      this.#hold(answer.lease, askedAt, {
        type: 'registered',
        ttlSeconds: answer.lease.ttl_seconds,
        replaced: answer.replaced,
      });
      this.#first.resolve(undefined);
      return this.#pauseAfterHold();
    } catch (thrown) {
      if (signal.aborted) return 0;
      return this.#registrationFailed(AppError.from(thrown), attempts);
    }
  }

  #registrationFailed(error: AppError, attempts: number): Pause {
    const { logger, client, manifest } = this.#options;
    this.#state = { kind: 'registering', attempts: attempts + 1 };
    if (!this.#everHeld && isFinal(error)) {
      logger.error(`The registry refuses ${manifest.agent_id} for good: ${error.message}`, {
        code: error.code,
        errors: error.errors,
      });
      this.#first.reject(error);
      this.#ending.abort();
      this.#enter({ kind: 'stopped' }, { type: 'stopped' });
      return 0;
    }
    if (error.code === 'agent_id_taken') {
      logger.error(`The id ${manifest.agent_id} is held by somebody else at ${client.target}; asking again`, {
        attempts: attempts + 1,
      });
      this.#emit({ type: 'taken' });
    } else {
      const say = attempts === 0 ? logger.error.bind(logger) : logger.debug.bind(logger);
      say(`Registering ${manifest.agent_id} at ${client.target} failed; asking again`, { code: error.code, error });
      if (attempts === 0) this.#emit({ type: 'late', error });
    }
    return Math.max(
      backoffMs(attempts, { ...this.#backoff, random: this.#random }),
      retryAfterMs(error, this.#backoff.capMs),
    );
  }

  async #renew(state: Extract<LeaseState, { kind: 'held' | 'late' }>, signal: AbortSignal): Promise<Pause> {
    const { client, manifest, logger } = this.#options;
    const askedAt = this.#now();
    const timeoutMs = Math.max(500, Math.min(3_000, (state.ttlSeconds * 1_000) / 3));
    try {
      const lease = await client.renew(manifest.agent_id, { ownerToken: this.#ownerToken, signal, timeoutMs });
      if (state.kind === 'late') logger.info('The lease is renewed again', { attempts: state.attempts });
      this.#hold(lease, askedAt, { type: 'renewed', ttlSeconds: lease.ttl_seconds });
      return this.#pauseAfterHold();
    } catch (thrown) {
      if (signal.aborted) return 0;
      const error = AppError.from(thrown);
      if (mustRegisterAgain(error)) {
        logger.warn(`The registry does not know the lease of ${manifest.agent_id}; registering in full`, {
          code: error.code,
        });
        this.#enter({ kind: 'registering', attempts: 0 }, { type: 'lost', code: error.code });
        return this.#register(signal);
      }
      return this.#renewalFailed(state, error);
    }
  }

  #renewalFailed(state: Extract<LeaseState, { kind: 'held' | 'late' }>, error: AppError): Pause {
    const attempts = state.kind === 'late' ? state.attempts : 0;
    const { ttlSeconds, expiresAt } = state;
    const rest = expiresAt - this.#now();
    if (attempts === 0) {
      this.#options.logger.error('The lease could not be renewed; keeping it and asking again', {
        code: error.code,
        rest_ms: rest,
        error,
      });
    }
    this.#state = { kind: 'late', ttlSeconds, expiresAt, attempts: attempts + 1 };
    if (attempts === 0) this.#emit({ type: 'late', error });
    const pause = backoffMs(attempts, { ...this.#backoff, random: this.#random });
    // While the lease lives there must be time for another try before it ends.
    return rest > 0 ? Math.min(pause, Math.max(rest / 3, MIN_PAUSE_MS)) : pause;
  }

  #hold(lease: { ttl_seconds: number; renew_every_seconds: number }, askedAt: number, event: LeaseEvent): void {
    // Whole, as timers are: one that fires a fraction too early would wait once more.
    const renewMs = Math.ceil(jitter(lease.renew_every_seconds * 1_000, 0.1, this.#random));
    this.#enter(
      {
        kind: 'held',
        ttlSeconds: lease.ttl_seconds,
        // Counted from the question: the registry cannot have granted it earlier.
        expiresAt: askedAt + lease.ttl_seconds * 1_000,
        renewAt: askedAt + renewMs,
      },
      event,
    );
  }

  #pauseAfterHold(): Pause {
    return this.#state.kind === 'held' ? this.#untilNext(this.#state.renewAt) : 0;
  }

  async #end(deregister: boolean): Promise<void> {
    this.#ending.abort();
    await this.#running;
    if (this.#state.kind === 'stopped') return;
    // Also after an attempt without an answer: the registry may have taken it.
    const mayBeRegistered = this.#everAsked && this.#state.kind !== 'unhealthy';
    if (mayBeRegistered && deregister) await this.#deregister(new AbortController().signal);
    this.#first.reject(new AppError('cancelled', 'The agent was stopped before it was registered.'));
    this.#enter({ kind: 'stopped' }, { type: 'stopped' });
  }

  async #deregister(signal: AbortSignal): Promise<void> {
    const { client, manifest, logger } = this.#options;
    try {
      await client.deregister(manifest.agent_id, { ownerToken: this.#ownerToken, signal, timeoutMs: FAREWELL_MS });
      logger.info(`Deregistered ${manifest.agent_id} from ${client.target}`);
    } catch (error) {
      logger.debug('Deregistering failed; the lease will run out', { error });
    }
  }

  #enter(state: LeaseState, event: LeaseEvent): void {
    this.#state = state;
    this.#emit(event);
  }

  #emit(event: LeaseEvent): void {
    this.#options.onEvent?.(event);
  }
}

/** A refusal that the same question would meet again. */
function isFinal(error: AppError): boolean {
  return [
    'invalid_request',
    'unauthenticated',
    'forbidden',
    'payload_too_large',
    'method_not_allowed',
    'not_found',
  ].includes(error.reason);
}

function mustRegisterAgain(error: AppError): boolean {
  return (
    ['not_found', 'gone', 'forbidden', 'unauthenticated'].includes(error.reason) && error.code !== 'target_refused'
  );
}

function retryAfterMs(error: AppError, capMs: number): number {
  // One second is what every `unavailable` carries: only a longer wish says something.
  const seconds = error.retryAfterSeconds ?? 0;
  return seconds > 1 ? Math.min(seconds * 1_000, capMs) : 0;
}
