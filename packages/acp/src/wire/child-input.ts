import type { Writable } from 'node:stream';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import { within } from '@parley/shell';
import type { OpenRequests } from './open-requests.js';
import type { RecordedRun } from './traffic-recorder.js';
import { ChildInputClosedError } from './wire-errors.js';

export interface ChildInputOptions {
  readonly stdin: Writable;
  readonly requests: OpenRequests;
  readonly record: RecordedRun | undefined;
  /** Resolves when everything that the child wrote was heard. */
  readonly outputFinished: Promise<unknown>;
}

/** How long a child that takes nothing any more is still listened to. */
const LAST_OUTPUT_MS = 200;

/** Gives messages to a child, no faster than it takes them. */
export class ChildInput {
  constructor(private readonly options: ChildInputOptions) {
    // Whoever waits for a message to be taken is told by that; an `error` that nobody hears would end this process.
    options.stdin.on('error', ignore);
  }

  /** @throws ChildInputClosedError */
  async write(message: AnyMessage): Promise<void> {
    const { requests, record, outputFinished } = this.options;
    const line = `${JSON.stringify(message)}\n`;
    requests.open(message);
    record?.outgoing(message);
    try {
      await this.#send(line);
    } catch (error) {
      // A connection ends with its first failure. A broken pipe is noticed before the last words of who broke it.
      await within(LAST_OUTPUT_MS, outputFinished);
      throw new ChildInputClosedError({ cause: error });
    }
  }

  end(): void {
    this.options.stdin.end();
  }

  #send(line: string): Promise<void> {
    const { stdin } = this.options;
    return new Promise((resolve, reject) => {
      if (stdin.destroyed || stdin.writableEnded) reject(new Error('the pipe is closed'));
      else stdin.write(line, (error) => (error ? reject(error) : resolve()));
    });
  }
}

function ignore(): void {
  // Told otherwise.
}
