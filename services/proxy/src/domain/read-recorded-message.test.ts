import { parseExact } from '@parley/proxy-protocol';
import fc from 'fast-check';
import { Refusal } from './facts.js';
import { readRecordedMessage } from './read-recorded-message.js';

const read = (message: unknown) => readRecordedMessage(message, (text) => parseExact(text, { nonFinite: false }));
const call = (args: unknown) => ({ tool_calls: [{ id: 'c', function: { name: 'f', arguments: args } }] });

function deep(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('readRecordedMessage', () => {
  it.each<[unknown, unknown]>([
    ['', [{ type: 'text', text: '' }]],
    [{}, []],
    [{ content: null }, []],
    [{ choices: [{ message: {} }] }, []],
    [
      { role: 'assistant', content: 'hi', reasoning: 'hm' },
      [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'hi' },
      ],
    ],
    [{ reasoning_content: '', reasoning: 'two' }, [{ type: 'thinking', thinking: 'two' }]],
    [{ content: [{ type: 'tool_use', name: 'f' }] }, [{ type: 'tool_use', id: null, name: 'f', input: {} }]],
    [{ content: [{ type: 'redacted_thinking', data: 'x' }] }, [{ type: 'redacted_thinking' }]],
    [{ content: [{ type: 'thinking', thinking: 't', signature: 's' }] }, [{ type: 'thinking', thinking: 't' }]],
    ...[' { } ', '', null, {}, [], 0, false].map((args): [unknown, unknown] => [
      call(args),
      [{ type: 'tool_use', id: 'c', name: 'f', input: {} }],
    ]),
    [call('{"a":1}'), [{ type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } }]],
  ])('reads %j', (message, blocks) => {
    expect(read(message)).toEqual(blocks);
  });

  it.each([
    [{ role: null }, "a recorded model call is the assistant's message"],
    [{ role: 'user', content: 5 }, "a recorded model call is the assistant's message"],
    [{ content: 5 }, 'a recorded model call is an OpenAI chat message, an Anthropic message or a string'],
    [null, 'a recorded model call is an OpenAI chat message, an Anthropic message or a string'],
    [[], 'a recorded model call is an OpenAI chat message, an Anthropic message or a string'],
    [{ tool_calls: 5 }, 'a tool call names no function'],
    [{ tool_calls: 'x' }, 'a tool call names no function'],
    [{ tool_calls: [null] }, 'a tool call names no function'],
    [{ tool_calls: [{ function: { name: 5 } }] }, 'a tool call names no function'],
    [call('{'), "tool call 'f': its arguments aren't JSON"],
    [call('{"a":NaN}'), "tool call 'f': its arguments aren't JSON"],
    [call('['.repeat(100_000)), "tool call 'f': its arguments aren't JSON"],
    [call('null'), "tool call 'f': its arguments aren't an object"],
    [call('[1]'), "tool call 'f': its arguments aren't an object"],
    [call(5), "tool call 'f': its arguments aren't an object"],
    [{ content: [{ type: 'tool_use', input: {} }] }, 'a tool_use block needs a name and an input object'],
    [{ content: [{ type: 'tool_use', name: 'f', input: null }] }, 'a tool_use block needs a name and an input object'],
    [{ content: [{ type: 'image', n: 1 }] }, "unreadable content block: {'type': 'image', 'n': 1}"],
    [{ content: [5] }, 'unreadable content block: 5'],
    [
      { content: [{ type: 'tool_use', name: 'f' }], tool_calls: [] },
      "unreadable content block: {'type': 'tool_use', 'name': 'f'}",
    ],
    [{ content: deep(100_000) }, "the recorded model call can't be kept: it is nested too deeply"],
    [{ content: 'x', n: Number.NaN }, "the recorded model call can't be kept: it holds a number that isn't finite"],
  ])('refuses case %#', (message, sentence) => {
    expect(() => read(message)).toThrow(new Refusal(400, sentence));
  });

  it('refuses whatever it does not read: nothing else is ever thrown', () => {
    const odd = fc.record(
      {
        role: fc.constantFrom('assistant', 'assistant', null),
        content: fc.oneof(
          fc.jsonValue(),
          fc.array(
            fc.record({
              type: fc.constantFrom('text', 'tool_use', 'thinking'),
              name: fc.jsonValue(),
              text: fc.jsonValue(),
              input: fc.jsonValue(),
            }),
          ),
        ),
        tool_calls: fc.oneof(
          fc.jsonValue(),
          fc.array(
            fc.record({
              id: fc.jsonValue(),
              function: fc.record({
                name: fc.string({ unit: 'binary' }),
                arguments: fc.oneof(fc.json(), fc.jsonValue()),
              }),
            }),
          ),
        ),
        reasoning: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(odd, (message) => {
        try {
          return Array.isArray(read(message));
        } catch (error) {
          return error instanceof Refusal && error.status === 400;
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps half a surrogate pair as it came', () => {
    expect(read({ content: '\ud800' })).toEqual([{ type: 'text', text: '\ud800' }]);
  });
});
