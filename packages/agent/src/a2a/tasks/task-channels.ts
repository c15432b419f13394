import type { StreamResponse } from '@a2a-js/sdk';
import type { TaskStream } from './task-stream.js';

/** Who reads which task; a task without readers takes no room. */
export class TaskChannels {
  readonly #readers = new Map<string, Set<TaskStream>>();

  get readerCount(): number {
    let count = 0;
    for (const readers of this.#readers.values()) count += readers.size;
    return count;
  }

  join(taskId: string, stream: TaskStream): void {
    if (stream.isClosed) return;
    const readers = this.#readers.get(taskId) ?? new Set();
    readers.add(stream);
    this.#readers.set(taskId, readers);
    stream.onClosed(() => {
      readers.delete(stream);
      if (readers.size === 0 && this.#readers.get(taskId) === readers) this.#readers.delete(taskId);
    });
  }

  /** @param updates What a reader is sent instead that has been sent something before. */
  emit(taskId: string, item: StreamResponse, updates: () => StreamResponse[] = () => [item]): void {
    for (const stream of this.#readers.get(taskId) ?? []) {
      if (stream.hasBegun) for (const update of updates()) stream.send(update);
      else stream.send(item);
    }
  }

  end(taskId: string): void {
    for (const stream of [...(this.#readers.get(taskId) ?? [])]) stream.end();
  }

  endAll(): void {
    for (const taskId of [...this.#readers.keys()]) this.end(taskId);
  }
}
