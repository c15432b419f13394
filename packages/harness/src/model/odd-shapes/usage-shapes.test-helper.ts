import type { OddShape } from './odd-shape.test-helper.js';
import { hello, reported, stop, text, usage } from './wire-chunks.test-helper.js';

/** Ways to report tokens. */
export const usageShapes: readonly OddShape[] = [
  { name: 'no usage', answer: (a) => a.stream(text('hello'), stop), result: hello },
  {
    name: 'usage in every chunk',
    answer: (a) =>
      a.stream(
        { ...text('hello'), usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 } },
        { ...stop, usage: reported },
        usage(null),
      ),
    result: { ...hello, usage: [7, 2, 9] },
  },
  {
    name: 'usage inside the choice',
    answer: (a) =>
      a.stream(text('hello'), { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: reported }] }),
    result: { ...hello, usage: [7, 2, 9] },
  },
  {
    name: 'usage without a total',
    answer: (a) => a.stream(text('hello'), stop, usage({ prompt_tokens: 7, completion_tokens: 2 })),
    result: { ...hello, usage: [7, 2, 9] },
  },
  {
    name: 'usage of zeros for visible text',
    answer: (a) => a.stream(text('hello'), stop, usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })),
    result: { ...hello, warns: true },
  },
  {
    name: 'usage with more reasoning than output',
    answer: (a) =>
      a.stream(text('hello'), stop, usage({ ...reported, completion_tokens_details: { reasoning_tokens: 10 } })),
    result: { ...hello, warns: true },
  },
  {
    name: 'usage with more cached than input',
    answer: (a) => a.stream(text('hello'), stop, usage({ ...reported, prompt_tokens_details: { cached_tokens: 9 } })),
    result: { ...hello, warns: true },
  },
  {
    name: 'usage whose total is not the sum',
    answer: (a) => a.stream(text('hello'), stop, usage({ ...reported, total_tokens: 10 })),
    result: { ...hello, warns: true },
  },
  {
    name: 'usage as text, negative and fractional numbers',
    answer: (a) =>
      a.stream(
        text('hello'),
        stop,
        usage({ prompt_tokens: '7', completion_tokens: -2, total_tokens: 9.5, prompt_tokens_details: 'none' }),
      ),
    result: { ...hello, warns: true },
  },
];
