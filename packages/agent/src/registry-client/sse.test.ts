import { parseSse, type ServerSentEvent } from './sse.js';

async function parse(chunks: readonly string[], maxEventBytes?: number): Promise<ServerSentEvent[]> {
  const out: ServerSentEvent[] = [];
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk, 'latin1'));
  };
  for await (const event of parseSse(bytes(), maxEventBytes === undefined ? {} : { maxEventBytes })) out.push(event);
  return out;
}

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

describe('server-sent events', () => {
  it.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('are cut at %s, in one piece or byte by byte', async (_, eol) => {
    const text = [': comment', 'event: a', 'id: 7', 'data: one', 'data:two', '', 'data: x', '', ''].join(eol);
    const expected = [
      { event: 'a', data: 'one\ntwo', lastEventId: '7' },
      { event: 'message', data: 'x', lastEventId: '7' },
    ];
    expect(await parse([text])).toEqual(expected);
    expect(await parse([...text])).toEqual(expected);
  });

  it('keep characters that fall between two chunks, and an empty line that follows a carriage return', async () => {
    const text = utf8('data: é€😀\r\n\r\n\n');
    expect(await parse([...text])).toEqual([{ event: 'message', data: 'é€😀', lastEventId: '' }]);
    expect(await parse(['data: a\r', '\n', '\ndata: b\n\n'])).toEqual([
      { event: 'message', data: 'a', lastEventId: '' },
      { event: 'message', data: 'b', lastEventId: '' },
    ]);
  });

  it('drop what the end cuts off, fields nobody knows, and blocks without data', async () => {
    expect(await parse(['retry: 5\nid: 3\n\nfoo\ndata\n\ndata: half'])).toEqual([
      { event: 'message', data: '', lastEventId: '3' },
    ]);
  });

  it('are refused when one grows without bound', async () => {
    await expect(parse(['data: ', 'x'.repeat(60), 'y'.repeat(60)], 100)).rejects.toMatchObject({
      code: 'peer_invalid_answer',
    });
    await expect(parse(Array<string>(30).fill('data: 12345\n'), 100)).rejects.toMatchObject({
      code: 'peer_invalid_answer',
    });
  });
});
