import type { AnyMessage } from '@agentclientprotocol/sdk';

/** Who gives one message after the other. */
export interface MessageSource {
  /** Undefined at the end. */
  next(): Promise<AnyMessage | undefined>;
  /** Nobody asks for more. Idempotent. */
  stop(): void;
}

/** The messages of a source, which is asked for none before its reader wants it. Fails as the source does. */
export function messageStream(source: MessageSource): ReadableStream<AnyMessage> {
  return new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        try {
          const message = await source.next();
          if (message === undefined) controller.close();
          else controller.enqueue(message);
        } catch (error) {
          source.stop();
          controller.error(error);
        }
      },
      cancel: () => source.stop(),
    },
    { highWaterMark: 0 },
  );
}
