import type { JsonValue } from '../json.js';
import type { HarnessLogger } from '../logger.js';
import { boundedText } from './bounded-text.js';
import { JsonTextWriter } from './json-text-writer.js';
import type { ToolProgressReporter, ToolProgressUpdate } from './tool-progress.js';
import { thrownText } from './thrown-text.js';

/** A tool that reports without waiting loses what is beyond this. */
const MAX_WAITING = 1_000;
const MAX_UPDATE_BYTES = 65_536;

/**
 * The reports of one call. Updates are copied when they come, shown one after the other, and dropped once the call is
 * over or aborted; updates that JSON cannot hold, or that show badly, are only logged.
 */
export class ProgressChannel implements ToolProgressReporter {
  #tail: Promise<void> | undefined;
  #waiting = 0;
  #closed = false;

  constructor(
    private readonly signal: AbortSignal,
    private readonly show: (update: ToolProgressUpdate) => Promise<void>,
    private readonly logger: HarnessLogger,
  ) {}

  async report(update: ToolProgressUpdate): Promise<void> {
    if (this.#closed || this.#waiting >= MAX_WAITING) return;
    const copy = this.#copyOf(update);
    if (copy === undefined) return;
    const before = this.#tail;
    this.#waiting += 1;
    this.#tail = this.#showAfter(before, copy);
    await this.#tail;
  }

  /** Takes no more; resolves when what was taken in time has been shown. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#tail;
  }

  async #showAfter(before: Promise<void> | undefined, update: ToolProgressUpdate): Promise<void> {
    await before;
    try {
      if (!this.signal.aborted) await this.show(update);
    } catch (error) {
      this.logger.warn('tool progress could not be shown', { error: thrownText(error) });
    } finally {
      this.#waiting -= 1;
    }
  }

  #copyOf(update: ToolProgressUpdate): ToolProgressUpdate | undefined {
    try {
      return copyOf(update);
    } catch (error) {
      this.logger.warn('tool progress was dropped', { error: thrownText(error) });
      return undefined;
    }
  }
}

/** The tool keeps its own object and may change it while the copy waits. */
function copyOf(update: ToolProgressUpdate): ToolProgressUpdate {
  const given: unknown = update.message;
  if (typeof given !== 'string') throw new TypeError('message of an update must be a string');
  const message = boundedText(given, MAX_UPDATE_BYTES);
  if (update.data === undefined) return { message };
  const text = new JsonTextWriter(MAX_UPDATE_BYTES).write(update.data);
  if (text.length > MAX_UPDATE_BYTES) throw new RangeError(`data of an update exceeds ${MAX_UPDATE_BYTES} characters`);
  return { message, data: JSON.parse(text) as JsonValue };
}
