import { replayTraffic, type ReplayOptions, type ReplayStream } from '../wire/index.js';
import type { AcpChild, OpenChild } from './acp-child.js';

/**
 * Opens children that are only the record of some, in the order in which they were recorded: no program, no model and no
 * key is needed. What is said to them has to be what was said then, or the run fails with the line that differs.
 *
 * @param recording the lines of a `TrafficRecorder`.
 * @param isSame see `ReplayOptions`.
 *
 * @example
 * ```ts
 * const provider = new AcpSubagentProvider(options, replayChildren(await readFile('run.jsonl', 'utf8')));
 * ```
 */
export function replayChildren(recording: string, { isSame }: Pick<ReplayOptions, 'isSame'> = {}): OpenChild {
  let opened = 0;
  return () =>
    new Promise((resolve) => {
      opened += 1;
      resolve(new RecordedChild(replayTraffic(recording, { run: opened, isSame })));
    });
}

class RecordedChild implements AcpChild {
  /** How it ended is not in the record. */
  readonly exit = undefined;
  readonly garbageLines = 0;
  readonly #ended = Promise.withResolvers<undefined>();

  constructor(readonly stream: ReplayStream) {}

  get exited(): Promise<undefined> {
    return this.#ended.promise;
  }

  allowGarbageAgain(): void {
    // It has none.
  }

  describeExit(): string {
    return this.stream.failure?.message ?? 'the record of the child has ended';
  }

  end(): Promise<undefined> {
    this.#ended.resolve(undefined);
    return this.#ended.promise;
  }
}
