import type { ModelErrorKind } from '../../enums.js';
import type { OddShape } from './odd-shape.test-helper.js';
import { choice, text } from './wire-chunks.test-helper.js';

/** Failures that come with status 200. */
export const failureShapes: readonly OddShape[] = [
  {
    name: 'an error in the stream, by code of a rate limit',
    answer: (a) => a.stream(text('hel'), { error: { message: 'Slow down.', code: 'rate_limit_exceeded' } }),
    result: { fails: 'rate_limit', says: 'Slow down.', shown: 'hel' },
  },
  {
    name: 'an error in the stream, by code of an overflow',
    answer: (a) => a.stream({ error: { message: 'Too long.', code: 'context_length_exceeded' } }),
    result: { fails: 'context_overflow', says: 'Too long.' },
  },
  {
    name: 'an error in the stream with a status as its code, beside a choice',
    answer: (a) => a.stream({ ...choice({ content: '' }, 'error'), error: { code: 504, message: 'Upstream slow.' } }),
    result: { fails: 'timeout', says: 'the model server answered 504: Upstream slow.' },
  },
  {
    name: 'an error in the stream as a text',
    answer: (a) => a.stream({ error: 'out of memory' }),
    result: { fails: 'provider_error', says: 'the model server failed: out of memory' },
  },
  {
    name: 'an event named `error` with plain text',
    answer: (a) => a.begin().packets('event: error\ndata: the prompt is too long for this model\n\n').end(),
    result: { fails: 'context_overflow', says: 'the prompt is too long' },
  },
  {
    name: 'an error as JSON with status 200',
    answer: (a) => a.status(200, { error: { message: 'Invalid key.', type: 'authentication_error' } }),
    result: { fails: 'authentication', says: 'Invalid key.' },
  },
];

const refusal = (name: string, status: number, body: unknown, fails: ModelErrorKind, says: string): OddShape => ({
  name: `${status}, ${name}`,
  answer: (a) => a.status(status, body),
  result: { fails, says },
});

/** Answers with an HTTP status that says no. */
export const refusalShapes: readonly OddShape[] = [
  refusal(
    'a wrong key',
    401,
    { error: { message: 'Bad key.', code: 'invalid_api_key' } },
    'authentication',
    'answered 401: Bad key.',
  ),
  refusal(
    'a page of HTML',
    403,
    '<html><title>403 Forbidden</title></html>',
    'authentication',
    'an HTML page titled "403 Forbidden"',
  ),
  refusal('too many tokens per day', 429, { error: { message: 'Too many tokens per day.' } }, 'rate_limit', 'per day'),
  refusal(
    'speaking of the context',
    429,
    { error: { message: 'maximum context length', code: 'context_length_exceeded' } },
    'rate_limit',
    '429',
  ),
  refusal(
    'too many tokens per minute',
    400,
    { error: { message: 'Too many tokens per minute' } },
    'rate_limit',
    'per minute',
  ),
  refusal('a body too large', 413, '<html><title>413 Request Entity Too Large</title></html>', 'provider_error', '413'),
  refusal(
    'a body too large, speaking of tokens',
    413,
    { error: { message: 'too many tokens', code: 'context_length_exceeded' } },
    'provider_error',
    '413',
  ),
  refusal('by code', 400, { error: { message: 'No.', code: 'context_length_exceeded' } }, 'context_overflow', 'No.'),
  refusal(
    'by phrase',
    400,
    { object: 'error', message: "This model's maximum context length is 4096 tokens.", code: 400 },
    'context_overflow',
    '4096',
  ),
  refusal(
    'by type',
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      },
    },
    'context_overflow',
    'available context size',
  ),
  refusal(
    'inside a list',
    400,
    [
      {
        error: {
          code: 400,
          message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    'context_overflow',
    'input token count',
  ),
  refusal(
    'anything else',
    400,
    { error: { message: 'Unknown field.' } },
    'provider_error',
    'answered 400: Unknown field.',
  ),
  refusal(
    'no such model',
    404,
    { error: { message: 'No such model.' } },
    'provider_error',
    'answered 404: No such model.',
  ),
  refusal(
    'a list of details',
    422,
    { detail: [{ loc: ['body'], msg: 'field required' }] },
    'provider_error',
    'field required',
  ),
  refusal('a slow request', 408, '', 'timeout', 'the model server answered 408'),
  refusal('a slow server', 504, '<html><title>504 Gateway Time-out</title></html>', 'timeout', '504 Gateway Time-out'),
  refusal('plain text', 500, 'boom', 'provider_error', 'the model server answered 500: boom'),
  refusal('nothing at all', 503, '', 'provider_error', 'the model server answered 503'),
  refusal(
    'overloaded',
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    'provider_error',
    'Overloaded',
  ),
];
