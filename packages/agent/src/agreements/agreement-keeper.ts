import { AppError } from '@parley/service-kit';
import type { EndReason } from '../wire/agreement.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import { Absence } from './absence.js';
import { AgreementLedger } from './agreement-ledger.js';
import { Calls } from './calls.js';
import { createEventHub, type EventHub } from './event-hub.js';
import { keeperContext, type KeeperContext } from './keeper-context.js';
import type {
  AgreementKeeper,
  AgreementKeeperOptions,
  AgreementListener,
  ConfirmInput,
  EndInput,
  GetInput,
  ListInput,
  NegotiationCaller,
  RenewInput,
  ReserveCallInput,
} from './keeper-types.js';
import { Lifecycle } from './lifecycle.js';
import { createMemoryAgreementStore } from './memory-store.js';
import { Negotiator } from './negotiator.js';
import { Registrations } from './registrations.js';
import { sweep } from './sweeper.js';
import { watchStore } from './watch-store.js';

/** The keeper of one agent's agreements. Nothing runs by itself before `start()`. */
export function createAgreementKeeper(options: AgreementKeeperOptions): AgreementKeeper {
  return new Keeper(options);
}

/** Without a sweep for longer than this, nobody could have renewed. */
const STALLED_AFTER_MS = 5_000;

class Keeper implements AgreementKeeper {
  readonly #context: KeeperContext;
  readonly #events: EventHub;
  readonly #absence: Absence;
  readonly #ledger: AgreementLedger;
  readonly #negotiator: Negotiator;
  readonly #lifecycle: Lifecycle;
  readonly #calls: Calls;
  readonly #registrations: Registrations;
  #timer: NodeJS.Timeout | undefined;
  #sweptAt: number | undefined;
  #sweeping: Promise<unknown> | undefined;
  #sweepFails = false;

  constructor(options: AgreementKeeperOptions) {
    const now = options.now ?? Date.now;
    const { endedRetentionMs, sessionRetentionMs, maxRemembered } = options.settings ?? {};
    const store =
      options.store ??
      createMemoryAgreementStore({
        now,
        ...(endedRetentionMs === undefined ? {} : { endedRetentionMs }),
        ...(sessionRetentionMs === undefined ? {} : { sessionRetentionMs }),
        ...(maxRemembered === undefined ? {} : { maxRemembered }),
      });
    const watched = watchStore(store, {
      onSuccess: () => {
        this.#absence.present();
      },
      onFailure: () => {
        this.#absence.away();
      },
    });
    this.#context = keeperContext(options, watched, now);
    this.#absence = new Absence({
      now,
      logger: this.#context.logger,
      living: () => watched.living(),
      spare: (record) => this.#ledger.spare(record),
    });
    this.#events = createEventHub(this.#context.logger, this.#context.metrics, now);
    this.#ledger = new AgreementLedger(this.#context, this.#events, this.#absence);
    this.#negotiator = new Negotiator(this.#context, this.#ledger);
    this.#lifecycle = new Lifecycle(this.#context, this.#ledger);
    this.#calls = new Calls(this.#context, this.#ledger);
    this.#registrations = new Registrations(this.#context, this.#ledger);
  }

  negotiate(request: NegotiationRequest, caller: NegotiationCaller = {}) {
    return this.#negotiator.negotiate(request, caller);
  }

  confirm(agreementId: string, input: ConfirmInput) {
    return this.#lifecycle.confirm(agreementId, input);
  }

  renew(agreementId: string, input: RenewInput) {
    return this.#lifecycle.renew(agreementId, input);
  }

  end(agreementId: string, input: EndInput) {
    return this.#lifecycle.end(agreementId, input);
  }

  get(agreementId: string, input: GetInput) {
    return this.#lifecycle.get(agreementId, input);
  }

  list(input: ListInput = {}) {
    return this.#lifecycle.list(input);
  }

  reserveCall(input: ReserveCallInput) {
    return this.#calls.reserve(input);
  }

  suspendFor(agentIds: string | readonly string[]) {
    return this.#registrations.suspendFor(typeof agentIds === 'string' ? [agentIds] : agentIds);
  }

  resumeFor(agentId: string, { sameOwner }: { readonly sameOwner: boolean }) {
    return this.#registrations.resumeFor(agentId, sameOwner);
  }

  endFor(agentId: string, reason: EndReason) {
    return this.#registrations.endFor(agentId, reason);
  }

  endWithdrawn() {
    return this.#registrations.endWithdrawn();
  }

  countLiving() {
    return this.#context.store.countLiving();
  }

  sweep(now = this.#context.now()) {
    return sweep(this.#context, this.#ledger, this.#registrations, now);
  }

  onEvent(listener: AgreementListener) {
    return this.#events.subscribe(listener);
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#sweptAt = this.#context.now();
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.#tick().finally(() => {
        this.#sweeping = undefined;
      });
    }, this.#context.settings.sweepEveryMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#sweeping;
  }

  async #tick(): Promise<void> {
    const { now, settings, logger } = this.#context;
    const before = this.#sweptAt ?? now();
    this.#sweptAt = now();
    if (this.#sweptAt - before > Math.max(STALLED_AFTER_MS, settings.sweepEveryMs * 3)) this.#absence.away(before);
    try {
      await this.sweep();
      this.#sweepFails = false;
    } catch (error) {
      // One line for an outage, not one for each second of it.
      if (!this.#sweepFails)
        logger.warn('Deadlines of agreements could not be looked at', { error: AppError.from(error) });
      this.#sweepFails = true;
    }
  }
}
