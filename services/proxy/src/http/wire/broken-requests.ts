import type { BrokenRequestAnswer } from '@parley/service-kit';

/** The sentence for what node cannot parse. */
export function brokenRequestAnswer(code: string | undefined): BrokenRequestAnswer {
  const [status, body] = refusalOf(code);
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
}

function refusalOf(code: string | undefined): readonly [status: number, sentence: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'the header fields are larger than 32 KiB'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'the chunk extensions of the body are too large'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'the request did not arrive in time'];
    default:
      return [400, 'this is not a valid HTTP request'];
  }
}
