import type { TurnSubmitted } from './event-of-fact.js';
import { TaskRecord } from './task-record.js';

export interface TrajectoryBounds {
  readonly maxContexts: number;
  /** Of all events as JSON. */
  readonly maxBytes: number;
}

interface ContextRecords {
  /** In order of opening, those that have not opened last. */
  readonly tasks: TaskRecord[];
  startedCount: number;
  forgottenCount: number;
}

/**
 * Trajectories by context. Over a bound whole contexts go, the least recently used first, so that positions in a
 * context never shift; never one with a task that has not ended, nor the one that was just written to.
 */
export class TrajectoryStore {
  readonly #bounds: TrajectoryBounds;
  readonly #tasks = new Map<string, TaskRecord>();
  /** The least recently used first. */
  readonly #contexts = new Map<string, ContextRecords>();
  #bytes = 0;

  constructor(bounds: TrajectoryBounds) {
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(submitted: TurnSubmitted): void {
    if (this.#tasks.has(submitted.taskId)) return;
    const record = new TaskRecord(submitted);
    this.#tasks.set(submitted.taskId, record);
    const context = this.#contexts.get(submitted.contextId) ?? { tasks: [], startedCount: 0, forgottenCount: 0 };
    context.tasks.push(record);
    this.#contexts.set(submitted.contextId, context);
    this.#touch(submitted.contextId);
  }

  /** Without counting as a use. */
  find(taskId: string): TaskRecord | undefined {
    return this.#tasks.get(taskId);
  }

  task(taskId: string): TaskRecord | undefined {
    const record = this.#tasks.get(taskId);
    if (record !== undefined) this.#touch(record.submitted.contextId);
    return record;
  }

  context(contextId: string): readonly TaskRecord[] | undefined {
    this.#touch(contextId);
    return this.#contexts.get(contextId)?.tasks;
  }

  /** Puts a task after those of its context that began before it. It has no events yet, so no position shifts. */
  started(record: TaskRecord): void {
    const context = this.#contexts.get(record.submitted.contextId);
    if (context === undefined) return;
    const index = context.tasks.indexOf(record);
    if (index < context.startedCount) return;
    context.tasks.splice(index, 1);
    context.tasks.splice(context.startedCount, 0, record);
    context.startedCount += 1;
    this.#touch(record.submitted.contextId);
  }

  /** To be told of every event that a record has taken up. */
  grown(record: TaskRecord): void {
    this.#bytes += record.sizes.at(-1) ?? 0;
    if (this.#bytes > this.#bounds.maxBytes) this.#evict(record.submitted.contextId);
  }

  ended(record: TaskRecord): void {
    this.#touch(record.submitted.contextId);
    this.#evict(record.submitted.contextId);
  }

  /** A context goes when all of its tasks are forgotten: the positions of the others must not shift. */
  forget(taskId: string): void {
    const contextId = this.#tasks.get(taskId)?.submitted.contextId;
    const context = contextId === undefined ? undefined : this.#contexts.get(contextId);
    if (contextId === undefined || context === undefined) return;
    context.forgottenCount += 1;
    if (context.forgottenCount >= context.tasks.length) this.#drop(contextId, context);
  }

  #touch(contextId: string): void {
    const context = this.#contexts.get(contextId);
    if (context === undefined) return;
    this.#contexts.delete(contextId);
    this.#contexts.set(contextId, context);
  }

  #evict(keep: string): void {
    const { maxContexts, maxBytes } = this.#bounds;
    for (const [contextId, context] of this.#contexts) {
      if (this.#contexts.size <= maxContexts && this.#bytes <= maxBytes) return;
      if (contextId === keep || context.tasks.some(({ isEnded }) => !isEnded)) continue;
      this.#drop(contextId, context);
    }
  }

  #drop(contextId: string, context: ContextRecords): void {
    this.#contexts.delete(contextId);
    for (const record of context.tasks) {
      this.#tasks.delete(record.submitted.taskId);
      this.#bytes -= record.bytes;
    }
  }
}
