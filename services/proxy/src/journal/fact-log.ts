import type { Fact } from '../domain/facts.js';

/** Where facts go: `proxy` for those of the proxy as a whole, a task's id for those of its turn. */
export type Stream = string;

/** Keeps facts. The order within a stream is kept; an append has happened when it resolves. */
export interface FactLog {
  /** Undefined (not a promise) when nothing has to be waited for. Many at once share one write and one fsync. */
  append(stream: Stream, fact: Fact): Promise<void> | undefined;
  /** Everything that was kept, stream by stream, `proxy` first; a torn last line is left out and said. */
  load(): AsyncIterable<{ readonly stream: Stream; readonly facts: readonly Fact[] }>;
  /** Forgets a stream. */
  remove(stream: Stream): Promise<void>;
  close(): Promise<void>;
}

/** Keeps nothing: all is gone with the process. */
export class NoFactLog implements FactLog {
  append(): undefined {
    return undefined;
  }

  async *load(): AsyncGenerator<never> {
    // Nothing was kept.
  }

  async remove(): Promise<void> {
    // Nothing was kept.
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}
