import type { Message } from '@a2a-js/sdk';
import { sending } from '../../../test-support/a2a-engine.js';
import { withMessage } from './task-changes.js';

function said(text: string, messageId = 'm-1', parts?: Message['parts']): Message {
  const { message } = sending(text, { messageId, ...(parts === undefined ? {} : { parts }) });
  if (message === undefined) throw new Error('there is a message');
  return message;
}

describe('a message in the history of a task', () => {
  it('is there once, however often it is told', () => {
    const history = withMessage([], said('hello'));
    expect(withMessage(history, said('hello'))).toBe(history);
    const later = withMessage(history, said('more', 'm-2'));
    expect(withMessage(later, said('hello'))).toBe(later);
  });

  it('is not lost when another one of the same id has other words', () => {
    const history = withMessage([], said('hello'));
    const both = withMessage(history, said('and another thing'));
    expect(both).toEqual([said('hello'), said('and another thing')]);
    expect(history).toHaveLength(1);
    expect(withMessage(both, said('and another thing'))).toBe(both);
  });

  it.each<[string, Message['parts']]>([
    ['data', [{ content: { $case: 'data', value: { a: [1] } }, metadata: undefined, filename: '', mediaType: '' }]],
    ['no parts', []],
    ['the same words as a file', said('hello').parts.map((part) => ({ ...part, filename: 'a.txt' }))],
  ])('is another one with %s', (_what, parts) => {
    const history = withMessage([said('hello')], said('', 'm-1', parts));
    expect(history).toHaveLength(2);
    expect(
      withMessage(
        history,
        said(
          '',
          'm-1',
          parts.map((part) => ({ ...part })),
        ),
      ),
    ).toBe(history);
  });
});
