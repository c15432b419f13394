import { Readable } from 'node:stream';
import { type AnyMessage, ndJsonStream, type Stream } from '@agentclientprotocol/sdk';
import type { NodeOutput } from './node-output.js';

export interface AgentStreamOptions {
  readonly input: Readable;
  readonly output: NodeOutput;
  readonly maxMessageBytes: number | undefined;
  /** Requests of the client that have no answer yet; then nothing more is read. */
  readonly maxOpenRequests: number;
  /** Called when the client has said all it will say. The connection stays open until it resolves. */
  readonly onInputEnd: () => Promise<void>;
}

/** Lines of JSON over Node streams. */
export function agentStream(options: AgentStreamOptions): Stream {
  const { input, output, maxMessageBytes, maxOpenRequests, onInputEnd } = options;
  const bytesOut = new WritableStream<Uint8Array>({ write: (chunk) => output.write(chunk) });
  const requests = new OpenRequests(maxOpenRequests);
  // Held back here: the reader of lines takes whatever there is.
  const gate = new TransformStream<Uint8Array, Uint8Array>({
    transform: async (chunk, controller) => {
      await requests.room();
      controller.enqueue(chunk);
    },
  });
  const bytesIn = (Readable.toWeb(input) as ReadableStream<Uint8Array>).pipeThrough(gate);
  const lines = ndJsonStream(bytesOut, bytesIn, maxMessageBytes === undefined ? {} : { maxMessageBytes });
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => {
      if (isRequest(message)) requests.enter();
      controller.enqueue(message);
    },
    flush: onInputEnd,
  });
  const writer = lines.writable.getWriter();
  const writable = new WritableStream<AnyMessage>({
    write: async (message) => {
      await writer.write(message);
      if (!('method' in message)) requests.leave();
    },
  });
  return {
    readable: lines.readable.pipeThrough(incoming),
    writable,
  };
}

/** A client that asks and does not read the answers is heard again when it has read some. */
class OpenRequests {
  #count = 0;
  #freed: PromiseWithResolvers<undefined> | undefined;

  constructor(private readonly max: number) {}

  enter(): void {
    this.#count += 1;
  }

  /** Resolves when there are fewer than there may be. */
  async room(): Promise<void> {
    while (this.#count >= this.max) {
      this.#freed ??= Promise.withResolvers<undefined>();
      await this.#freed.promise;
    }
  }

  leave(): void {
    this.#count = Math.max(0, this.#count - 1);
    this.#freed?.resolve(undefined);
    this.#freed = undefined;
  }
}

function isRequest(message: AnyMessage): boolean {
  return 'method' in message && 'id' in message;
}
