import type { WholeAnswer } from './odd-shape.test-helper.js';

/** What chat-completions servers send, in small pieces. */
export const choice = (delta: unknown, finish: string | null = null): object => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
export const text = (content: string | null): object => choice({ content });
export const stop = choice({}, 'stop');
export const calling = choice({}, 'tool_calls');
export const calls = (...toolCalls: readonly unknown[]): object => choice({ tool_calls: toolCalls });
export const usage = (report: object | null): object => ({ id: 'x', choices: [], usage: report });
export const reported = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
export const fn = (name?: string, args?: unknown): object => ({
  ...(name === undefined ? {} : { name }),
  ...(args === undefined ? {} : { arguments: args }),
});
export const wire = (...chunks: readonly object[]): string =>
  [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
export const whole = (message: object, finish = 'stop', report: object | null = reported): object => ({
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  usage: report,
});
/** What most shapes come out as. */
export const hello: WholeAnswer = { finish: 'stop', text: 'hello' };
/** What two calls in the shapes of tool calls come out as. */
export const twoReads = ['read({"path":"a"})', 'read({"path":"b"})'];
