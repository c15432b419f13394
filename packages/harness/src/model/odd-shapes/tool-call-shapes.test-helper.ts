import type { OddShape } from './odd-shape.test-helper.js';
import { calling, calls, choice, fn, stop, text, twoReads } from './wire-chunks.test-helper.js';

/** Ways to send calls in pieces. */
export const toolCallShapes: readonly OddShape[] = [
  {
    name: 'two calls in turn by index, arguments in pieces',
    answer: (a) =>
      a.stream(
        calls({ index: 0, id: 'a', type: 'function', function: fn('read', '') }),
        calls({ index: 1, id: 'b', type: 'function', function: fn('read', '') }),
        calls({ index: 0, function: fn(undefined, '{"path"') }, { index: 1, function: fn(undefined, '{"path":"b"}') }),
        calls({ index: 0, function: fn(undefined, ':"a"}') }),
        calling,
      ),
    result: { finish: 'tool_calls', calls: twoReads, ids: ['a', 'b'] },
  },
  {
    name: 'index 0 for every call, told apart by id',
    answer: (a) =>
      a.stream(
        calls({ index: 0, id: 'a', function: fn('read', '{"path":') }),
        calls({ index: 0, function: fn(undefined, '"a"}') }),
        calls({ index: 0, id: 'b', function: fn('read', '{"path":') }),
        calls({ index: 0, function: fn(undefined, '"b"}') }),
        calling,
      ),
    result: { finish: 'tool_calls', calls: twoReads, ids: ['a', 'b'] },
  },
  {
    name: 'index 0 for every call, ids repeated and interleaved',
    answer: (a) =>
      a.stream(
        calls(
          { index: 0, id: 'a', function: fn('read', '{"path":') },
          { index: 0, id: 'b', function: fn('read', '{"path":') },
        ),
        calls(
          { index: 0, id: 'a', function: fn(undefined, '"a"}') },
          { index: 0, id: 'b', function: fn(undefined, '"b"}') },
        ),
        calling,
      ),
    result: { finish: 'tool_calls', calls: twoReads, ids: ['a', 'b'] },
  },
  {
    name: 'index 0 for every call and no ids',
    answer: (a) =>
      a.stream(
        calls({ index: 0, function: fn('read', '{"path":"a"}') }),
        calls({ index: 0, function: fn('read', '{"path":"b"}') }),
        calling,
      ),
    result: { finish: 'tool_calls', calls: twoReads, ids: ['made-1', 'made-2'] },
  },
  {
    name: 'ids without indices',
    answer: (a) =>
      a.stream(
        calls({ id: 'a', function: fn('read', '{"path":"a"}') }, { id: 'b', function: fn('read', '{"path":') }),
        calls({ function: fn(undefined, '"b"}') }),
        calling,
      ),
    result: { finish: 'tool_calls', calls: twoReads, ids: ['a', 'b'] },
  },
  {
    name: 'indices without ids',
    answer: (a) =>
      a.stream(
        calls(
          { index: 0, function: fn('read', '{"path":"a"}') },
          { index: 1, id: '', function: fn('read', '{"path":"b"}') },
        ),
        calling,
      ),
    result: { finish: 'tool_calls', calls: twoReads, ids: ['made-1', 'made-2'] },
  },
  {
    name: 'neither ids nor indices',
    answer: (a) =>
      a.stream(calls({ function: fn('read', '{"path":"a"}') }), calls({ function: fn('list', '{}') }), calling),
    result: { finish: 'tool_calls', calls: ['read({"path":"a"})', 'list({})'], ids: ['made-1', 'made-2'] },
  },
  {
    name: 'an id that comes after the name',
    answer: (a) =>
      a.stream(
        calls({ index: 0, function: fn('list') }),
        calls({ index: 0, id: 'a', function: fn(undefined, '{}') }),
        calling,
      ),
    result: { finish: 'tool_calls', calls: ['list({})'], ids: ['a'] },
  },
  {
    name: 'the same id for two calls',
    answer: (a) =>
      a.stream(
        calls(
          { index: 0, id: 'a', function: fn('read', '{"path":"a"}') },
          { index: 1, id: 'a', function: fn('read', '{"path":"b"}') },
        ),
        calling,
      ),
    result: { finish: 'tool_calls', calls: twoReads, ids: ['a', 'made-1'] },
  },
  {
    name: 'a name in pieces',
    answer: (a) =>
      a.stream(
        calls({ index: 0, id: 'a', function: fn('read_') }),
        calls({ index: 0, function: fn('file', '{}') }),
        calling,
      ),
    result: { finish: 'tool_calls', calls: ['read_file({})'], ids: ['a'] },
  },
  {
    name: 'id and name repeated in every piece',
    answer: (a) =>
      a.stream(
        calls({ index: 0, id: 'a', function: fn('read', '{"path":') }),
        calls({ index: 0, id: 'a', function: fn('read', '"a"}') }),
        calling,
      ),
    result: { finish: 'tool_calls', calls: ['read({"path":"a"})'], ids: ['a'] },
  },
  {
    name: 'arguments as an object',
    answer: (a) => a.stream(calls({ index: 0, id: 'a', function: fn('read', { path: 'a' }) }), calling),
    result: { finish: 'tool_calls', calls: ['read({"path":"a"})'], ids: ['a'] },
  },
  {
    name: 'a call that is no list, beside text',
    answer: (a) =>
      a.stream(
        text('hello'),
        choice({ tool_calls: { index: 0, id: 'a', function: fn('list', '') } }),
        choice({ tool_calls: null }),
        calling,
      ),
    result: { finish: 'tool_calls', text: 'hello', calls: ['list()'], ids: ['a'] },
  },
  {
    name: 'calls that end with `stop`',
    answer: (a) => a.stream(calls({ index: 0, id: 'a', function: fn('list', '{}') }), stop),
    result: { finish: 'tool_calls', calls: ['list({})'], ids: ['a'] },
  },
  {
    name: 'a call cut by the limit of tokens',
    answer: (a) => a.stream(calls({ index: 0, id: 'a', function: fn('read', '{"pa') }), choice({}, 'length')),
    result: { finish: 'length', calls: ['read({"pa)'], ids: ['a'] },
  },
  {
    name: 'the older form with `function_call`',
    answer: (a) =>
      a.stream(
        choice({ function_call: fn('read', '') }),
        choice({ function_call: fn(undefined, '{"path":"a"}') }),
        choice({}, 'function_call'),
      ),
    result: { finish: 'tool_calls', calls: ['read({"path":"a"})'], ids: ['made-1'] },
  },
  {
    name: 'a call without a name',
    answer: (a) => a.stream(calls({ index: 0, id: 'a', function: fn(undefined, '{}') }), calling),
    result: { fails: 'provider_error', says: 'the model sent a tool call without a name' },
  },
];
