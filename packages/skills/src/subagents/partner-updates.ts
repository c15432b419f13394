import { isResting, type A2aMessage, type A2aTaskState, type A2aUpdate, type TaskPart } from '@parley/agent';
import type { SubagentStopReason, SubagentUpdate } from '@parley/harness';

/** Ends that are not failures of the partner. */
const OF_STATE: Readonly<Partial<Record<A2aTaskState, SubagentStopReason>>> = {
  rejected: 'refusal',
  canceled: 'aborted',
};

/** What a partner tells, as updates of a child. */
export class PartnerUpdates {
  readonly #tell: (update: SubagentUpdate) => void;
  #state: A2aTaskState | undefined;

  constructor(tell: (update: SubagentUpdate) => void) {
    this.#tell = tell;
  }

  /** True once the partner has told anything: it has the work. */
  get any(): boolean {
    return this.#state !== undefined;
  }

  /** Why a task that did not complete has ended; `error` also for one whose end nobody knows, or that asked for something. */
  get stopReason(): SubagentStopReason {
    return OF_STATE[this.#state ?? 'unknown'] ?? 'error';
  }

  take(update: A2aUpdate): void {
    const isFirst = !this.any;
    switch (update.kind) {
      case 'task':
        this.#state = update.task.state;
        // A whole task that comes later repeats what was told.
        if (!isFirst) return;
        this.#say(update.task.message);
        for (const { name, parts } of update.task.artifacts) this.#show(name, parts);
        return;
      case 'message':
        this.#state = 'completed';
        return;
      case 'status':
        this.#state = update.state;
        this.#say(update.message);
        return;
      case 'artifact':
        this.#state ??= 'working';
        this.#show(update.artifact.name, update.artifact.parts);
    }
  }

  /** The last message belongs to the result. */
  #say(message: A2aMessage | undefined): void {
    if (message === undefined || isResting(this.#state ?? 'unknown')) return;
    for (const part of message.parts) if (part.kind === 'text') this.#tell({ kind: 'text', text: part.text });
  }

  #show(name: string, parts: readonly TaskPart[]): void {
    const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    for (const text of texts.length > 0 ? texts : [`[${name}]`]) this.#tell({ kind: 'text', text });
  }
}
