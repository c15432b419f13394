/** More than any provider says about a failure, less than what hurts. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * A fetch whose failed responses end after 64 KiB: the client library reads them whole, however much comes. Successful
 * ones are left alone.
 */
export function withBoundedErrors(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(firstBytes(MAX_ERROR_BYTES)), { status, statusText, headers });
  };
}

function firstBytes(limit: number): TransformStream<Uint8Array, Uint8Array> {
  let left = limit;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= Math.min(left, chunk.byteLength);
      if (left === 0) controller.terminate();
    },
  });
}
