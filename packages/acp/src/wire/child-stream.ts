import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { ChildInput } from './child-input.js';
import { ChildOutput } from './child-output.js';
import { GarbageCount, type GarbageLine } from './garbage-count.js';
import { messageStream } from './message-stream.js';
import { OpenRequests } from './open-requests.js';
import type { TrafficRecorder } from './traffic-recorder.js';

export interface ChildStreamOptions {
  /** A line of the child at most, in bytes. Default 33,554,432. */
  readonly maxMessageBytes?: number | undefined;
  /** So many lines that are no messages are skipped; one more, and the stream fails. Default 100. */
  readonly maxGarbageLines?: number | undefined;
  /** Called with the first few of them. Must not throw. */
  readonly onGarbage?: ((line: GarbageLine) => void) | undefined;
  /** Takes out of a line what must not be told, before `onGarbage` gets it. */
  readonly safeText?: ((text: string) => string) | undefined;
  readonly record?: TrafficRecorder | undefined;
}

/** The connection to a child, as the SDK takes it. */
export interface ChildStream extends Stream {
  /** Lines of the child that were no messages. */
  readonly garbageLines: number;
  /** Counts from 0 again to `maxGarbageLines`: for a child that does one job after the other. */
  allowGarbageAgain(): void;
}

const DEFAULT_MESSAGE_BYTES = 32 * 1024 * 1024;
const DEFAULT_GARBAGE_LINES = 100;

/**
 * Messages to and from a child over its standard streams, one a line.
 *
 * The readable side ends with the child's output; it fails with `TooMuchGarbageError` or `MessageTooLargeError`, after
 * which the output is read and dropped until somebody ends the child. Answers to no request of ours, and arrays, are
 * garbage. The writable side fails with `ChildInputClosedError` when the child takes nothing any more.
 */
export function childStream(stdout: Readable, stdin: Writable, options: ChildStreamOptions = {}): ChildStream {
  const { maxMessageBytes = DEFAULT_MESSAGE_BYTES, maxGarbageLines = DEFAULT_GARBAGE_LINES } = options;
  const { onGarbage, safeText } = options;
  const garbage = new GarbageCount({ maxGarbageLines, onGarbage, safeText });
  const requests = new OpenRequests();
  const record = options.record?.open();
  const output = new ChildOutput({ stdout, maxMessageBytes, garbage, requests, record });
  const input = new ChildInput({ stdin, requests, record, outputFinished: output.finished });
  return {
    readable: messageStream(output),
    writable: new WritableStream<AnyMessage>({
      write: (message) => input.write(message),
      close: () => input.end(),
      abort: () => input.end(),
    }),
    get garbageLines() {
      return garbage.lines;
    },
    allowGarbageAgain: () => garbage.reset(),
  };
}
