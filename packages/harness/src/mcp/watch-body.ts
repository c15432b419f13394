const ID_FIELD = /(?:^|[\r\n])id:/u;

export interface BodyEnd {
  /** An event had an id, so that the rest can be asked for. */
  readonly resumable: boolean;
}

/** The same response, with a word when its body has ended or broken off. A body that the reader cancels ends too. */
export function watchBody(response: Response, onEnd: (end: BodyEnd) => void): Response {
  if (response.body === null) return response;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder('latin1');
  let resumable = false;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          onEnd({ resumable });
          return;
        }
        resumable ||= ID_FIELD.test(decoder.decode(value.subarray(0, 256)));
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        onEnd({ resumable });
      }
    },
    cancel: async (reason) => {
      onEnd({ resumable });
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}
