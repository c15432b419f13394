import { problemFaults, rawRequest, sendCase } from '@parley/testkit';
import { startRegistry, type RunningRegistry } from './testing/start-registry.js';
import { DISCOVER_CASES, NEGOTIATE_CASES, OTHER_CASES, REGISTER_CASES } from './testing/bad-requests.js';

let registry: RunningRegistry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());

const ALL = [...REGISTER_CASES, ...DISCOVER_CASES, ...NEGOTIATE_CASES, ...OTHER_CASES];

describe('bad input to the registry', () => {
  it('is tried in more than 200 distinct ways', () => {
    const distinct = new Set(
      ALL.map(({ method, path, headers, body }) => JSON.stringify([method, path, headers, String(body), body])),
    );
    expect(distinct.size).toBeGreaterThan(200);
  });

  it.each(ALL.map((one) => [`${one.method} ${one.path.slice(0, 40)}`, one.wrong, one] as const))(
    'is a problem with a path: %s with %s',
    async (_route, _wrong, one) => {
      expect(problemFaults(await sendCase(registry.httpUrl, one), one)).toEqual([]);
    },
  );

  it('leaves nothing behind', async () => {
    const response = await fetch(`${registry.httpUrl}/agents`);
    expect(await response.json()).toMatchObject({ agents: [], total: 0 });
  });

  it.each([
    ['no HTTP at all', 'HELLO\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/9.9\r\n\r\n', 400],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['two lengths', 'POST /register HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST /register HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['headers over 16 KiB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('is a problem also where the request itself is broken: %s', async (_what, bytes, status) => {
    const answer = await rawRequest(registry.service.httpPort, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
    expect(answer).toContain('application/problem+json');
    expect(answer).not.toMatch(/<html|\n\s+at /i);
  });
});
