import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';

export interface StreamObserver {
  /** A message leaves now. */
  outgoing(message: AnyMessage): void;
  /** The other side's pipe has taken it. */
  written(message: AnyMessage): void;
  /** A message has come. Returns whether it goes on to the library. */
  incoming(message: AnyMessage): boolean;
}

/**
 * A stream whose messages are seen in the order of the wire. The library itself has no such order: it hands
 * notifications on a few microtasks late, so that an answer can overtake the text that came before it in the same
 * packet, and text that came after an answer can be taken for a part of it.
 */
export function observeStream(stream: Stream, observer: StreamObserver): Stream {
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      if (observer.incoming(message)) controller.enqueue(message);
    },
  });
  const writer = stream.writable.getWriter();
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      observer.outgoing(message);
      await writer.write(message);
      observer.written(message);
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
  return { readable: stream.readable.pipeThrough(incoming), writable };
}
