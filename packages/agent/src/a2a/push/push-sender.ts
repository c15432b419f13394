import type { StreamResponse, Task } from '@a2a-js/sdk';
import {
  resolveUserScope,
  type OwnerResolver,
  type PushNotificationSender,
  type PushNotificationStore,
  type ServerCallContext,
  type StoredPushNotificationConfig,
} from '@a2a-js/sdk/server';
import type { Logger } from '@parley/service-kit';
import { scopeOf } from '../stores/scope.js';
import { DeliveryLine, type Delivery } from './delivery-line.js';
import { EventIntake, type IntakeEvent } from './event-intake.js';
import { createPushPoster, type PushPoster } from './post-push.js';
import { pushBody, taskIdOf } from './push-body.js';
import { pushHeaders } from './push-headers.js';
import type { PushTargetRules } from './push-target.js';

export interface PushSenderOptions {
  /** Where the configurations of tasks are; must be the one that the request handler writes to. */
  readonly store: PushNotificationStore;
  readonly logger: Logger;
  /** Default: only `https:` to public addresses. */
  readonly rules?: PushTargetRules;
  /** Tries for each notification. Default 5. */
  readonly attempts?: number;
  /** For one try. Default 5,000. */
  readonly timeoutMs?: number;
  /** Wait before the second try, doubled for each later one, with jitter. Default 500, at most 30,000. */
  readonly backoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Notifications that wait for one receiver of one task, oldest dropped first. Default 100. */
  readonly maxQueuedPerTask?: number;
  /** Notifications that wait in all. Default 1,000. */
  readonly maxQueued?: number;
  /** Their bodies in all. Default 33,554,432. */
  readonly maxQueuedBytes?: number;
  /** Default 8. */
  readonly maxConnectionsPerOrigin?: number;
  /** How long `close` waits for what is on its way. Default 2,000. */
  readonly closeTimeoutMs?: number;
  /** As the stores have it. */
  readonly ownerResolver?: OwnerResolver;
  /** Default `Math.random`. */
  readonly random?: () => number;
}

export interface PushSender extends PushNotificationSender {
  /** Takes the event and returns at once: a slow receiver never delays a task. Never rejects. */
  send(streamResponse: StreamResponse, context: ServerCallContext, task?: Task): Promise<void>;
  /** Notifications that are waiting or on their way. */
  readonly pending: number;
  /** Takes nothing more, waits a bounded time for what is on its way, and gives up the rest. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Tells receivers what becomes of tasks: for each receiver of a task in order, with several tries, at least once.
 *
 * @example
 * const sender = createPushSender({ store, logger, rules: { allowPlainHttp: true, allowPrivateAddresses: true } });
 */
export function createPushSender(options: PushSenderOptions): PushSender {
  return new QueueingPushSender(options);
}

interface Line {
  readonly line: DeliveryLine;
  readonly taskId: string;
  readonly configId: string;
  readonly host: string;
  dropped: number;
}

class QueueingPushSender implements PushSender {
  readonly #options: PushSenderOptions;
  readonly #logger: Logger;
  readonly #poster: PushPoster;
  readonly #intake: EventIntake;
  readonly #lines = new Map<string, Line>();
  /** Everything on its way, oldest first. */
  readonly #deliveries = new Map<Delivery, Line>();
  readonly #maxPerTask: number;
  readonly #maxQueued: number;
  readonly #maxBytes: number;
  #bytes = 0;
  #closed: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  constructor(options: PushSenderOptions) {
    this.#options = options;
    this.#logger = options.logger;
    this.#maxPerTask = options.maxQueuedPerTask ?? 100;
    this.#maxQueued = options.maxQueued ?? 1_000;
    this.#maxBytes = options.maxQueuedBytes ?? 33_554_432;
    this.#poster = createPushPoster({
      rules: options.rules ?? {},
      timeoutMs: options.timeoutMs ?? 5_000,
      maxConnectionsPerOrigin: options.maxConnectionsPerOrigin ?? 8,
    });
    this.#intake = new EventIntake({
      store: options.store,
      logger: options.logger,
      maxPerTask: this.#maxPerTask,
      max: this.#maxQueued,
      onEvent: (event, configs) => {
        for (const config of configs) this.#queue(event, config);
      },
      onEmpty: () => {
        this.#tellIdle();
      },
    });
  }

  get pending(): number {
    return this.#deliveries.size + this.#intake.size;
  }

  send(streamResponse: StreamResponse, context: ServerCallContext, task?: Task): Promise<void> {
    const taskId = taskIdOf(streamResponse);
    if (taskId !== undefined && this.#closed === undefined) {
      const scope = scopeOf(context, this.#options.ownerResolver ?? resolveUserScope);
      this.#intake.add({ key: `${scope}\0${taskId}`, taskId, context, ...snapshot(streamResponse, task) });
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#drained(this.#options.closeTimeoutMs ?? 2_000);
    const left = this.pending;
    if (left > 0) this.#logger.warn('Push notifications were given up: the agent stops', { count: left });
    this.#intake.clear();
    for (const [delivery, { line }] of this.#deliveries) line.drop(delivery);
    this.#deliveries.clear();
    await this.#poster.close();
  }

  #drained(timeoutMs: number): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #tellIdle(): void {
    if (this.pending === 0) this.#idle?.();
  }

  #queue(event: IntakeEvent, { config, wireVersion }: StoredPushNotificationConfig): void {
    const { body, contentType } = pushBody(wireVersion, event.streamResponse, event.task);
    const delivery: Delivery = { post: { url: config.url, headers: pushHeaders(config, contentType), body } };
    const key = `${event.key}\0${config.id}`;
    const line = this.#lines.get(key) ?? this.#open(key, event.taskId, config.id, config.url);
    this.#deliveries.set(delivery, line);
    this.#bytes += body.length;
    line.line.add(delivery);
    if (line.line.size > this.#maxPerTask) this.#drop(line.line.oldestWaiting());
    while (this.#deliveries.size > this.#maxQueued || (this.#bytes > this.#maxBytes && this.#deliveries.size > 1)) {
      const [oldest] = this.#deliveries.keys();
      this.#drop(oldest);
    }
  }

  #open(key: string, taskId: string, configId: string, url: string): Line {
    const fields = { task_id: taskId, config_id: configId, host: URL.canParse(url) ? new URL(url).host : '' };
    const { attempts = 5, backoffMs: baseMs = 500, maxBackoffMs: capMs = 30_000 } = this.#options;
    const line = new DeliveryLine({
      post: (post, signal) => this.#poster.post(post, signal),
      attempts,
      baseMs,
      capMs,
      random: this.#options.random ?? Math.random,
      onSettled: (delivery) => {
        this.#forget(delivery);
      },
      onGivenUp: (reason, tries) => {
        this.#logger.warn('A push notification could not be delivered', { ...fields, reason, attempts: tries });
      },
      onEmpty: () => {
        const { dropped } = opened;
        if (dropped > 0) this.#logger.warn('Push notifications were dropped', { ...fields, count: dropped });
        this.#lines.delete(key);
        this.#tellIdle();
      },
    });
    const opened: Line = { line, taskId, configId, host: fields.host, dropped: 0 };
    this.#lines.set(key, opened);
    return opened;
  }

  #drop(delivery: Delivery | undefined): void {
    const line = delivery === undefined ? undefined : this.#deliveries.get(delivery);
    if (delivery === undefined || line === undefined) return;
    if (line.dropped === 0) {
      const { taskId, configId, host } = line;
      this.#logger.warn('Push notifications are being dropped: too many are waiting', {
        task_id: taskId,
        config_id: configId,
        host,
      });
    }
    line.dropped += 1;
    line.line.drop(delivery);
    this.#forget(delivery);
  }

  #forget(delivery: Delivery): void {
    if (this.#deliveries.delete(delivery)) this.#bytes -= delivery.post.body.length;
  }
}

/** What was handed over goes on being changed by its owner, but only at the top: the history is cut for an answer. */
function snapshot(
  streamResponse: StreamResponse,
  task: Task | undefined,
): Pick<IntakeEvent, 'streamResponse' | 'task'> {
  const { payload } = streamResponse;
  const copied = payload === undefined ? {} : { payload: { ...payload, value: { ...payload.value } } };
  return { streamResponse: copied as StreamResponse, task: task === undefined ? undefined : { ...task } };
}
