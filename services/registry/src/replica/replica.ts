import type { Logger } from '@parley/service-kit';
import type { Catalogue } from '../domain/catalogue.js';
import type { Outage } from '../domain/guard.js';
import type { Renewal } from '../domain/types.js';
import { LogGap, type LogBatch, type LogPosition, type RegistryStore, type SweepResult } from '../store/store.js';
import { CatalogueSync } from './catalogue-sync.js';
import { Contact } from './contact.js';
import type { RegistryHooks, RegistrySettings, ReplicaStatus } from './core-types.js';
import { delay, within } from './delay.js';
import { EventFeed } from './event-feed.js';
import { RenewalOutbox } from './renewal-outbox.js';
import { RevisionGate } from './revision-gate.js';

const SWEEP_LIMIT = 500;
const MAX_SWEEPS_PER_TICK = 40;
const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1_000;
const START_PATIENCE_MS = 2_000;
const STOP_PATIENCE_MS = 1_500;

export interface ReplicaOptions {
  readonly store: RegistryStore;
  readonly catalogue: Catalogue;
  readonly now: () => number;
  readonly logger: Logger;
  readonly settings: RegistrySettings;
  readonly hooks: RegistryHooks;
}

/**
 * Keeps a catalogue current: a snapshot, then the log; a tick every second that sweeps, asks for deadlines that seem
 * to pass, and confirms the contact. The catalogue is changed by what the store tells and by nothing else.
 */
export class Replica {
  readonly feed: EventFeed;
  readonly #options: ReplicaOptions;
  readonly #sync: CatalogueSync;
  readonly #contact: Contact;
  readonly #outbox: RenewalOutbox;
  readonly #gate = new RevisionGate();
  readonly #stopped = new AbortController();
  #following = new AbortController();
  #position: LogPosition | undefined;
  #needsSnapshot = true;
  /** The log was found to be another one than the one that was followed, whatever its epoch is called. */
  #isOtherLog = false;
  #loops: Promise<unknown> | undefined;
  #firstSnapshot = Promise.withResolvers<undefined>();
  #lastState: ReplicaStatus['state'] = 'starting';

  constructor(options: ReplicaOptions) {
    this.#options = options;
    const { store, catalogue, logger, now, settings } = options;
    this.feed = new EventFeed({ capacity: settings.recentEvents, logger });
    this.#sync = new CatalogueSync({ catalogue, store, logger, now });
    this.#outbox = new RenewalOutbox({ store, logger });
    this.#contact = new Contact({
      now,
      storeNow: () => store.now(),
      maxStaleMs: settings.maxStaleMs,
      silenceMs: 2 * settings.sweepIntervalMs + 500,
    });
  }

  get revision(): number {
    return this.#gate.reached;
  }

  status(): ReplicaStatus {
    return this.#contact.status(this.#gate.reached);
  }

  /** What reads compare deadlines with. */
  readNowMs(): number {
    return this.#contact.readNowMs();
  }

  async start(): Promise<void> {
    this.#loops ??= Promise.all([this.#follow(), this.#tick(), this.#passOnRenewals()]);
    await within(this.#firstSnapshot.promise, START_PATIENCE_MS);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#following.abort();
    this.#gate.close();
    if (this.#loops !== undefined) await within(this.#loops, STOP_PATIENCE_MS);
    await within(this.#outbox.flush(), STOP_PATIENCE_MS / 2);
  }

  applied(revision: number, timeoutMs: number): Promise<boolean> {
    return this.#gate.wait(revision, timeoutMs);
  }

  /** A lease was renewed through this replica. */
  renewedHere(renewal: Renewal): void {
    this.#sync.renewed([renewal]);
    this.#outbox.add(renewal);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopped;
    let backoffMs = MIN_BACKOFF_MS;
    while (!this.#over()) {
      this.#following = new AbortController();
      try {
        const position = await this.#snapshotIfNeeded();
        for await (const batch of this.#options.store.changes(position, this.#following.signal)) {
          this.#apply(batch);
          backoffMs = MIN_BACKOFF_MS;
          if (this.#following.signal.aborted) break;
        }
      } catch (error) {
        if (this.#over()) return;
        if (error instanceof LogGap) {
          this.#needsSnapshot = true;
          this.#isOtherLog ||= error.reason === 'epoch_changed';
        } else this.#lost('The change log cannot be read', error);
        await delay(backoffMs, signal);
        backoffMs = Math.min(2 * backoffMs, MAX_BACKOFF_MS);
      }
    }
  }

  async #snapshotIfNeeded(): Promise<LogPosition> {
    const before = this.#position;
    if (before !== undefined && !this.#needsSnapshot) return before;
    const { store, hooks, logger } = this.#options;
    const { signal } = this.#stopped;
    const snapshot = await store.snapshot();
    const { position } = snapshot;
    const missing = await this.#sync.load(snapshot, signal);
    const lostData = before !== undefined && (this.#isOtherLog || before.epoch !== position.epoch);
    if (lostData) await this.#sync.adopt(missing, this.#ownOutage(snapshot.nowMs), signal);
    else this.#sync.forget(missing);

    this.#position = position;
    this.#needsSnapshot = false;
    this.#isOtherLog = false;
    this.feed.restart(position.revision);
    this.#gate.advance(position.revision);
    if (before === undefined) {
      this.#contact.confirmed();
      this.#firstSnapshot.resolve(undefined);
      logger.info('The catalogue is loaded', { agents: this.#options.catalogue.size, revision: position.revision });
    } else {
      const reason = lostData ? 'epoch_changed' : 'fell_behind';
      logger.warn('The catalogue was read anew', {
        reason,
        agents: this.#options.catalogue.size,
        adopted: lostData ? missing.length : 0,
      });
      hooks.onResync?.(reason);
      this.feed.emit({ type: 'resync', reason, revision: position.revision, atMs: snapshot.nowMs });
    }
    this.#publishStatus();
    return position;
  }

  /** The store that lost its data lost its memory of the outage too; this replica remembers. */
  #ownOutage(backAtMs: number): Outage | undefined {
    const awayFromMs = this.#contact.asOfMs;
    const { awayThresholdMs } = this.#options.settings.guard;
    if (awayFromMs === undefined || backAtMs - awayFromMs <= awayThresholdMs) return undefined;
    return { awayFromMs, backAtMs };
  }

  #apply(batch: LogBatch): void {
    for (const change of batch.changes) {
      const event = this.#sync.apply(change);
      // Before the listeners: what one of them reads has this revision.
      this.#gate.advance(change.revision);
      if (event !== undefined) this.feed.emit(event);
    }
    this.#sync.renewed(batch.renewals);
    this.#position = batch.position;
  }

  async #tick(): Promise<void> {
    const { signal } = this.#stopped;
    while (!this.#over()) {
      try {
        await this.#tickOnce(signal);
      } catch (error) {
        if (!this.#over()) this.#lost('The store cannot be reached', error);
      }
      this.#publishStatus();
      await delay(this.#options.settings.sweepIntervalMs, signal);
    }
  }

  async #tickOnce(signal: AbortSignal): Promise<void> {
    const { store, settings, hooks } = this.#options;
    const swept = await this.#sweep(signal);
    const position = this.#position;
    if (position === undefined || signal.aborted) return;
    if (swept.epoch !== position.epoch) {
      this.#needsSnapshot = true;
      this.#following.abort();
      return;
    }
    // Asked for early enough that the next tick, however late, comes before the deadline.
    const horizonMs = 2 * settings.sweepIntervalMs + 500;
    const nowMs = store.now();
    const late = await this.#sync.reconcile(nowMs, nowMs + horizonMs, signal);
    if (late > 0) hooks.onRenewedLate?.(late);
    // Contact means both: the store answers, and what it logged has arrived here.
    if (await this.#gate.wait(swept.revision, settings.sweepIntervalMs)) this.#contact.confirmed();
  }

  async #sweep(signal: AbortSignal): Promise<SweepResult> {
    const { store, settings, hooks, logger } = this.#options;
    for (let round = 1; ; round++) {
      const swept = await store.sweep({ limit: SWEEP_LIMIT, guard: settings.guard });
      if (swept.expired > 0) hooks.onExpired?.(swept.expired);
      if (swept.guarded > 0) {
        hooks.onGuarded?.(swept.guarded);
        logger.warn('Leases count from the return of the registry or its store', { agents: swept.guarded });
      }
      if (!swept.more || round === MAX_SWEEPS_PER_TICK || signal.aborted) return swept;
    }
  }

  async #passOnRenewals(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await delay(this.#options.settings.renewalBatchMs, signal);
      await this.#outbox.flush();
    }
  }

  #over(): boolean {
    return this.#stopped.signal.aborted;
  }

  #lost(message: string, error: unknown): void {
    this.#contact.lost();
    this.#options.logger.debug(message, { error });
    this.#publishStatus();
  }

  /** One line and one call for each change of state. */
  #publishStatus(): void {
    const status = this.status();
    if (status.state === this.#lastState) return;
    const { logger, hooks } = this.#options;
    const fields = { from: this.#lastState, to: status.state };
    this.#lastState = status.state;
    if (status.state === 'live') logger.info('The catalogue is current', fields);
    else logger.warn('The catalogue is not current', fields);
    hooks.onStatus?.(status);
  }
}
