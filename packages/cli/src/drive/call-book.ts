import type { ToolCall } from '@parley/harness';
import type { JsonObject, parseExact as ParseExact } from '@parley/proxy-protocol';

/**
 * The arguments of calls as they were written: the harness reads numbers as doubles, and the proxy compares a call with
 * its record digit by digit.
 */
export class CallBook {
  readonly #parseExact: typeof ParseExact;
  readonly #arguments = new Map<string, JsonObject>();

  constructor(parseExact: typeof ParseExact) {
    this.#parseExact = parseExact;
  }

  /** Only the calls of the newest message can still be run. */
  keep(calls: readonly ToolCall[]): void {
    this.#arguments.clear();
    for (const { id, arguments: text } of calls) {
      const read = this.read(text);
      if (read !== undefined) this.#arguments.set(id, read);
    }
  }

  /** Undefined for a call that was not kept. */
  argumentsOf(callId: string): JsonObject | undefined {
    return this.#arguments.get(callId);
  }

  /** Undefined for what the harness does not run: no JSON, or no object. */
  read(text: string): JsonObject | undefined {
    if (text.trim() === '') return {};
    try {
      // Strictly, as the harness does it: the exact reader takes more.
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
      return this.#parseExact(text) as JsonObject;
    } catch {
      return undefined;
    }
  }
}
