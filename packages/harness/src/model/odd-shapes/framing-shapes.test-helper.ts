import type { OddShape } from './odd-shape.test-helper.js';
import { choice, fn, hello, reported, stop, text, usage, whole, wire } from './wire-chunks.test-helper.js';

/** Ways to cut a stream into lines, events and packets. */
export const framingShapes: readonly OddShape[] = [
  {
    name: 'text in pieces, then a chunk without choices that reports usage',
    answer: (a) => a.stream(choice({ role: 'assistant', content: '' }), text('hel'), text('lo'), stop, usage(reported)),
    result: { ...hello, usage: [7, 2, 9] },
  },
  {
    name: 'deltas that hold only a role, null content, or are null',
    answer: (a) => a.stream(choice({ role: 'assistant' }), text(null), choice(null), text('hello'), stop),
    result: hello,
  },
  {
    name: 'lines that end with CRLF',
    answer: (a) =>
      a
        .begin()
        .packets(wire(text('hello'), stop).replaceAll('\n', '\r\n'))
        .end(),
    result: hello,
  },
  {
    name: 'lines that end with CR alone',
    answer: (a) =>
      a
        .begin()
        .packets(wire(text('hello'), stop).replaceAll('\n', '\r'))
        .end(),
    result: hello,
  },
  {
    name: 'every byte in a packet of its own, with CRLF and characters of several bytes',
    answer: async (a) => {
      const bytes = Buffer.from(wire(text('grüße 🎈'), stop).replaceAll('\n', '\r\n'));
      await a.begin().packetsApart(...Array.from(bytes, (byte) => Buffer.from([byte])));
      a.end();
    },
    result: { finish: 'stop', text: 'grüße 🎈' },
  },
  {
    name: 'comments and blank lines between the events',
    answer: (a) =>
      a
        .begin()
        .packets(': ping\n\n', '\n\n: ping\n', wire(text('hello')).slice(0, -14), ': ping\n\n', wire(stop))
        .end(),
    result: hello,
  },
  {
    name: 'a byte order mark, event names, ids, retry fields and no blank after the colon',
    answer: (a) =>
      a
        .begin()
        .packets(`\uFEFFretry: 10\nid:1\nevent: message\n${wire(text('hello'), stop).replaceAll('data: ', 'data:')}`)
        .end(),
    result: hello,
  },
  {
    name: 'one line feed between the events instead of two',
    answer: (a) =>
      a
        .begin()
        .packets(wire(text('hel'), text('lo'), stop).replaceAll('\n\n', '\n').replace('data: [DONE]\n', ''))
        .end(),
    result: hello,
  },
  {
    name: 'the end of the stream in place of the end marker, after a finish reason',
    answer: (a) => a.begin().chunks(text('hello'), stop).end(),
    result: hello,
  },
  {
    name: 'a last event without its blank line',
    answer: (a) =>
      a
        .begin()
        .packets(`${wire(text('hello')).slice(0, -14)}data: ${JSON.stringify(stop)}`)
        .end(),
    result: hello,
  },
  {
    name: 'a connection that breaks after the finish reason',
    answer: (a) => a.begin().chunks(text('hello'), stop).breakOff(),
    result: hello,
  },
  {
    name: 'a server that stays silent after the finish reason',
    answer: (a) => a.begin().chunks(text('hello'), stop).clientGone(),
    config: { idleTimeoutMs: 60 },
    result: hello,
  },
  {
    name: 'a server that keeps the connection open after the end marker',
    answer: (a) =>
      a
        .begin()
        .packets(wire(text('hello'), stop, usage(reported)))
        .clientGone(),
    result: { ...hello, usage: [7, 2, 9] },
  },
  {
    name: 'chunks after the end marker',
    answer: (a) =>
      a
        .begin()
        .packets(wire(text('hello'), stop), wire(text(' again'), stop))
        .end(),
    result: hello,
  },
  {
    name: 'a line of four million characters',
    answer: (a) => a.stream(text('x'.repeat(4_000_000)), stop),
    result: { finish: 'stop', text: 'x'.repeat(4_000_000) },
  },
  {
    name: 'a whole completion as JSON, although a stream was asked for',
    answer: (a) => a.status(200, whole({ content: 'hello' })),
    result: { ...hello, usage: [7, 2, 9] },
  },
  {
    name: 'a whole completion that calls itself an event stream',
    answer: (a) =>
      a
        .begin()
        .packets(
          '\n ',
          JSON.stringify(
            whole({ tool_calls: [{ id: 'c', type: 'function', function: fn('go', '{}') }] }, 'stop', null),
            null,
            2,
          ),
        )
        .end(),
    result: { finish: 'tool_calls', calls: ['go({})'], ids: ['c'] },
  },
  {
    name: 'an event stream that calls itself JSON',
    answer: (a) =>
      a
        .begin('application/json')
        .packets(wire(text('hello'), stop))
        .end(),
    result: hello,
  },
  {
    name: 'whole messages in place of deltas',
    answer: (a) => a.stream({ choices: [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }] }),
    result: hello,
  },
  {
    name: 'a second choice nobody asked for',
    answer: (a) =>
      a.stream(text('hello'), { choices: [{ index: 1, delta: { content: 'bye' }, finish_reason: 'length' }] }, stop),
    result: hello,
  },
];
