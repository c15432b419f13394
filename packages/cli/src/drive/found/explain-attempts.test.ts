import { explainAttempts } from './explain-attempts.js';

const place = { registryUrl: 'http://r', capability: 'playable' };

function attempt(agentId: string, outcome: string, reason?: string): Parameters<typeof explainAttempts>[0][number] {
  return { agent_id: agentId, outcome: outcome as 'declined', duration_ms: 1, ...(reason !== undefined && { reason }) };
}

describe('why there is no proxy', () => {
  it.each([
    [[], 'nobody_playable', 'nobody at http://r offers playable'],
    [
      [attempt('a', 'declined', 'capacity'), attempt('b', 'declined', 'capacity')],
      'all_taken',
      'all proxies at http://r are taken: a, b',
    ],
    [
      [attempt('a', 'declined', 'capacity'), attempt('b', 'unreachable', 'peer_unreachable')],
      'all_taken',
      'no proxy at http://r can be had: a taken, b unreachable',
    ],
    [[attempt('a', 'timeout', 'peer_timeout')], 'no_agreement', 'no proxy at http://r can be had: a timeout'],
    [
      [attempt('a', 'declined', 'parameters_unsupported'), attempt('b', 'invalid_answer', 'x')],
      'no_agreement',
      'no proxy at http://r can be had: a declined (parameters_unsupported), b invalid answer',
    ],
  ])('%j', (attempts, code, message) => {
    expect(explainAttempts(attempts, place)).toMatchObject({ name: 'ProxySearchFailed', code, message });
  });

  it('names a few of many, and little of a long name', () => {
    const many = Array.from({ length: 20 }, (_, index) => attempt(`${index}`, 'declined', 'capacity'));
    expect(explainAttempts(many, place).message).toBe(
      'all proxies at http://r are taken: 0, 1, 2, 3, 4, 5, 6, 7 and 12 more',
    );
    const long = explainAttempts([attempt('x'.repeat(2_000), 'declined', 'y'.repeat(2_000))], place);
    expect(long.message.length).toBeLessThan(250);
  });
});
