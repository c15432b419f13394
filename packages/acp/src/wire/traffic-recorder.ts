import type { AnyMessage } from '@agentclientprotocol/sdk';
import type { GarbageKind } from './garbage-count.js';
import { HEADER, type TrafficLine } from './traffic-line.js';
import { withoutServerSecrets } from './without-server-secrets.js';

export interface TrafficRecorderOptions {
  /** Gets each line, without its end. Must not throw. */
  readonly onLine: (line: string) => void;
  /** Of all lines together. Default 16,777,216. What does not fit is missing, and a last line says so. */
  readonly maxBytes?: number | undefined;
  /** In milliseconds, from anywhere. Default `performance.now`. */
  readonly now?: (() => number) | undefined;
  /** Takes out of a line what must not be kept. It stays JSON if quotes and backslashes stay. */
  readonly safeText?: ((text: string) => string) | undefined;
}

/** What is said to one child, and by it. */
export interface RecordedRun {
  outgoing(message: AnyMessage): void;
  incoming(message: AnyMessage): void;
  garbage(kind: GarbageKind): void;
  /** The child's output has ended. */
  end(): void;
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Records what is said to children, as lines of JSON: a header, then one line for each message with its direction, its
 * time in milliseconds since the child began, and the number of the child. Values of variables and headers of MCP
 * servers are left out; what people and models say is not.
 */
export class TrafficRecorder {
  #runs = 0;
  #bytes = 0;
  #isFull = false;

  constructor(private readonly options: TrafficRecorderOptions) {}

  /** True if something is missing because there was no room for it. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Begins with the next child. */
  open(): RecordedRun {
    this.#runs += 1;
    const run = this.#runs;
    const { now = () => performance.now() } = this.options;
    const begun = now();
    const add = (line: Omit<TrafficLine, 'run' | 'at'>) => {
      this.#add({ run, at: Math.round((now() - begun) * 10) / 10, ...line });
    };
    return {
      outgoing: (message) => add({ out: withoutServerSecrets(message) }),
      incoming: (message) => add({ in: message }),
      garbage: (kind) => add({ garbage: kind }),
      end: () => add({ end: true }),
    };
  }

  #add(line: TrafficLine): void {
    if (this.#isFull) return;
    if (this.#bytes === 0) this.#write(JSON.stringify(HEADER));
    const { safeText = (text: string) => text, maxBytes = DEFAULT_MAX_BYTES } = this.options;
    const text = safeText(JSON.stringify(line));
    if (this.#bytes + Buffer.byteLength(text) + 1 <= maxBytes) {
      this.#write(text);
      return;
    }
    this.#isFull = true;
    this.#write(JSON.stringify({ run: line.run, at: line.at, full: true } satisfies TrafficLine));
  }

  #write(text: string): void {
    this.#bytes += Buffer.byteLength(text) + 1;
    this.options.onLine(text);
  }
}
