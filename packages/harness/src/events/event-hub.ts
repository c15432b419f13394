import { messageOf } from '../errors.js';
import type { AgentEvent, AgentEventPayload, AgentEventSink } from '../events.js';
import type { HarnessLogger } from '../logger.js';
import { EventSubscription, type SubscriptionOptions } from './event-subscription.js';

export interface EventHubOptions {
  readonly agentId: string;
  readonly sinks: readonly AgentEventSink[];
  readonly logger: HarnessLogger;
}

const DELIVERED = Promise.resolve();

/**
 * Brings the events of one agent to its sinks and readers. Every sink sees every event in the same order, one at a
 * time: an event waits until all sinks have taken the one before, so that a slow sink slows the run and loses nothing.
 */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #subscriptions = new Set<EventSubscription>();
  /** The delivery that the next event has to wait for; null if there is none. */
  #delivering: Promise<void> | null = null;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** The events of one run, numbered from 1. */
  openRun(runId: string): RunEvents {
    return new RunEvents(this.#options.agentId, runId, (event) => this.#publish(event));
  }

  /** A reader of everything that happens from now on. */
  subscribe(options: SubscriptionOptions = {}): EventSubscription {
    const subscription = new EventSubscription({
      ...options,
      onClose: () => this.#subscriptions.delete(subscription),
    });
    if (!subscription.closed) this.#subscriptions.add(subscription);
    return subscription;
  }

  /** Ends every reader after what it has not read yet. */
  close(): void {
    for (const subscription of this.#subscriptions) subscription.end();
  }

  #publish(event: AgentEvent): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.push(event);
    if (this.#options.sinks.length === 0) return DELIVERED;
    const before = this.#delivering;
    const delivery = before === null ? this.#deliver(event) : before.then(() => this.#deliver(event));
    this.#delivering = delivery;
    // Tools that run side by side report at the same time; without the chain a fast sink would see their events
    // in another order than a slow one.
    return delivery.then(() => {
      if (this.#delivering === delivery) this.#delivering = null;
    });
  }

  async #deliver(event: AgentEvent): Promise<void> {
    for (const sink of this.#options.sinks) {
      try {
        await sink.emit(event);
      } catch (error) {
        this.#options.logger.warn('an event sink failed', { kind: event.payload.kind, error: messageOf(error) });
      }
    }
  }
}

/** Numbers and sends the events of one run. */
export class RunEvents {
  #last = 0;

  constructor(
    readonly agentId: string,
    readonly runId: string,
    private readonly publish: (event: AgentEvent) => Promise<void>,
  ) {}

  /** What the next event will carry. */
  get nextSequence(): number {
    return this.#last + 1;
  }

  /** Resolves when every sink has taken the event. Never rejects. */
  emit(payload: AgentEventPayload): Promise<void> {
    this.#last += 1;
    return this.publish({ agentId: this.agentId, runId: this.runId, sequence: this.#last, payload });
  }
}
