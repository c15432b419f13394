import type { StreamResponse, Task } from '@a2a-js/sdk';
import type { PushNotificationStore, ServerCallContext, StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import { AppError, type Logger } from '@parley/service-kit';

export interface IntakeEvent {
  /** Events with the same key are handed on in their order. */
  readonly key: string;
  readonly taskId: string;
  readonly context: ServerCallContext;
  readonly streamResponse: StreamResponse;
  readonly task: Task | undefined;
}

export interface EventIntakeOptions {
  readonly store: PushNotificationStore;
  readonly logger: Logger;
  readonly maxPerTask: number;
  readonly max: number;
  readonly onEvent: (event: IntakeEvent, configs: readonly StoredPushNotificationConfig[]) => void;
  readonly onEmpty: () => void;
}

/** Asks the store who wants to know of an event, without anybody waiting for that; once for all that came meanwhile. */
export class EventIntake {
  readonly #options: EventIntakeOptions;
  /** By key, oldest first; there while its reader runs. */
  readonly #waiting = new Map<string, IntakeEvent[]>();
  #size = 0;

  constructor(options: EventIntakeOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  add(event: IntakeEvent): void {
    const waiting = this.#waiting.get(event.key);
    if (waiting !== undefined && (waiting.length >= this.#options.maxPerTask || this.#size >= this.#options.max)) {
      this.#warn('Push notifications are being dropped: the store is too slow', event);
      if (waiting.shift() !== undefined) this.#size -= 1;
    } else if (this.#size >= this.#options.max) {
      this.#warn('A push notification was dropped: the store is too slow', event);
      return;
    }
    this.#size += 1;
    if (waiting !== undefined) {
      waiting.push(event);
      return;
    }
    this.#waiting.set(event.key, [event]);
    void this.#read(event.key);
  }

  clear(): void {
    for (const waiting of this.#waiting.values()) waiting.length = 0;
    this.#size = 0;
  }

  async #read(key: string): Promise<void> {
    for (;;) {
      const waiting = this.#waiting.get(key);
      const first = waiting?.[0];
      if (waiting === undefined || first === undefined) break;
      const configs = await this.#configsOf(first);
      // What came while the store was asked is told to the same receivers.
      const events = waiting.splice(0);
      this.#size -= events.length;
      for (const event of events) this.#handOn(event, configs);
    }
    this.#waiting.delete(key);
    this.#options.onEmpty();
  }

  #handOn(event: IntakeEvent, configs: readonly StoredPushNotificationConfig[]): void {
    try {
      if (configs.length > 0) this.#options.onEvent(event, configs);
    } catch (error) {
      this.#warn('A push notification cannot be written', event, error);
    }
  }

  async #configsOf({ taskId, context, ...event }: IntakeEvent): Promise<readonly StoredPushNotificationConfig[]> {
    const { store } = this.#options;
    try {
      if (store.loadWithMetadata !== undefined) return await store.loadWithMetadata(taskId, context);
      const configs = await store.load(taskId, context);
      return configs.map((config) => ({ config, wireVersion: context.requestedVersion }));
    } catch (error) {
      this.#warn('Push notifications were lost: their receivers cannot be read', { taskId, context, ...event }, error);
      return [];
    }
  }

  #warn(message: string, { taskId }: IntakeEvent, error?: unknown): void {
    this.#options.logger.warn(message, {
      task_id: taskId,
      ...(error === undefined ? {} : { error: AppError.from(error) }),
    });
  }
}
