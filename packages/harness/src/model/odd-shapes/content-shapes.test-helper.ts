import type { OddShape } from './odd-shape.test-helper.js';
import { calling, choice, hello, stop, text } from './wire-chunks.test-helper.js';

/** Ways to send text, reasoning and the reason of the end. */
export const contentShapes: readonly OddShape[] = [
  {
    name: 'reasoning under `reasoning_content`',
    answer: (a) =>
      a.stream(
        choice({ reasoning_content: 'hm' }),
        choice({ reasoning_content: 'm', content: null }),
        text('hello'),
        stop,
      ),
    result: { ...hello, reasoning: 'hmm' },
  },
  {
    name: 'reasoning under two names at once',
    answer: (a) => a.stream(choice({ reasoning: 'hm', reasoning_content: 'hm' }), text('hello'), stop),
    result: { ...hello, reasoning: 'hm' },
  },
  {
    name: 'content as a list of parts, some of them reasoning',
    answer: (a) =>
      a.stream(
        choice({
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
            { type: 'text', text: 'hello' },
          ],
        }),
        stop,
      ),
    result: { ...hello, reasoning: 'hm' },
  },
  {
    name: 'a refusal',
    answer: (a) => a.stream(choice({ refusal: 'I will ' }), choice({ refusal: 'not.' }), stop),
    result: { finish: 'stop', text: 'I will not.' },
  },
  { name: 'nothing but a finish reason', answer: (a) => a.stream(stop), result: { finish: 'stop' } },
  {
    name: 'an empty finish reason in every chunk but the last',
    answer: (a) => a.stream(choice({ content: 'hel' }, ''), choice({ content: 'lo' }, ''), choice({}, 'STOP')),
    result: hello,
  },
  {
    name: 'text cut by the limit of tokens',
    answer: (a) => a.stream(text('hel'), choice({}, 'length')),
    result: { finish: 'length', text: 'hel' },
  },
  {
    name: 'text cut by a filter',
    answer: (a) => a.stream(text('hel'), choice({}, 'content_filter')),
    result: { finish: 'content_filter', text: 'hel' },
  },
  {
    name: 'a finish reason nobody knows',
    answer: (a) => a.stream(text('hello'), choice({}, 'bored')),
    result: { finish: 'other', text: 'hello' },
  },
  {
    name: 'the finish reason `tool_calls` without a call',
    answer: (a) => a.stream(text('hello'), calling),
    result: hello,
  },
];
