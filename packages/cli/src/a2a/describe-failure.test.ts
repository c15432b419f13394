import { failure } from '../../test-support/fake-connection.js';
import { describeFailure } from './describe-failure.js';

describe('describeFailure', () => {
  it.each([
    [failure('task_not_found', 'Task not found: t1'), 'Task not found: t1 (TASK_NOT_FOUND)'],
    [
      failure('peer_unreachable', 'The peer cannot be reached.', {
        cause: Object.assign(new Error('fetch failed'), { cause: { code: 'ECONNREFUSED' } }),
      }),
      'The peer cannot be reached. (PEER_UNREACHABLE, ECONNREFUSED)',
    ],
    [new Error('anything'), 'anything'],
    [Object.assign(new Error('denied'), { code: 'EACCES' }), 'denied'],
    ['thrown', 'thrown'],
  ])('%s', (error, text) => {
    expect(describeFailure(error)).toBe(text);
  });

  it('ends with a cause that is its own', () => {
    const error: Error & { cause?: unknown } = failure('peer_error', 'odd');
    error.cause = error;
    expect(describeFailure(error)).toBe('odd (PEER_ERROR)');
  });
});
