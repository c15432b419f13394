import { AgentCard } from '@a2a-js/sdk';
import { ask, cardOptions, closeA2aServers, startA2a, V1, type Json } from '../server.test-helper.js';
import { buildAgentCard, buildExtendedAgentCard } from './build-agent-card.js';

afterEach(closeA2aServers);

const PATH = '/.well-known/agent-card.json';

describe('the card', () => {
  it('lists three bindings in both versions, at the configured address', () => {
    const { supportedInterfaces } = buildAgentCard(cardOptions);
    const all = supportedInterfaces.map((one) => `${one.protocolBinding} ${one.protocolVersion} ${one.url}`);
    expect(all.toSorted()).toEqual([
      'GRPC 0.3 agents.example:443',
      'GRPC 1.0 agents.example:443',
      'HTTP+JSON 0.3 https://agents.example/x/a2a/v1',
      'HTTP+JSON 1.0 https://agents.example/x/a2a/v1',
      'JSONRPC 0.3 https://agents.example/x/a2a',
      'JSONRPC 1.0 https://agents.example/x/a2a',
    ]);
  });

  it('leaves out what is not served', () => {
    const card = buildAgentCard({ ...cardOptions, compat: false, grpcTarget: undefined as never });
    expect(card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)).toEqual(['JSONRPC', 'HTTP+JSON']);
  });

  it('says that it works offline, and has an extended card only where one is configured', () => {
    expect(buildAgentCard({ ...cardOptions, offline: true }).description).toContain('offline');
    expect(buildExtendedAgentCard(cardOptions)?.description).toBe('Does more.');
    const plain = { ...cardOptions, extendedCard: undefined as never };
    expect(buildExtendedAgentCard(plain)).toBeUndefined();
    expect(buildAgentCard(plain).capabilities?.extendedAgentCard).toBe(false);
  });

  it.each(['/.well-known/agent-card.json', '/.well-known/agent.json'])('is at %s', async (path) => {
    const { url } = await startA2a();
    const answer = await ask(`${url}${path}`, { headers: V1 });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(answer.json).toMatchObject({ name: 'Agent X', version: '2.3.4', skills: [{ id: 'echo', tags: ['text'] }] });
    expect(answer.json).not.toHaveProperty('url');
    expect(AgentCard.fromJSON(answer.json ?? {}).supportedInterfaces).toHaveLength(6);
    expect(answer.text).not.toContain('127.0.0.1');
  });

  it('has for those who say no version all that either version knows', async () => {
    const { url } = await startA2a();
    for (const headers of [{}, { 'A2A-Version': '0.3' }, { 'A2A-Version': '0.3.0' }]) {
      const { json } = await ask(`${url}${PATH}`, { headers });
      expect(json).toMatchObject({
        protocolVersion: '0.3',
        url: 'https://agents.example/x/a2a',
        preferredTransport: 'JSONRPC',
        supportsAuthenticatedExtendedCard: true,
        capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
      });
      expect(json?.['supportedInterfaces']).toHaveLength(6);
      expect((json?.['additionalInterfaces'] as Json[]).map(({ transport }) => transport)).toEqual([
        'HTTP+JSON',
        'GRPC',
      ]);
      expect(AgentCard.fromJSON(json ?? {}).capabilities?.extendedAgentCard).toBe(true);
    }
  });

  it('is that of 1.0 for everybody when only 1.0 is served', async () => {
    const { url } = await startA2a({ compat: false });
    const { json } = await ask(`${url}${PATH}`);
    expect(json).not.toHaveProperty('protocolVersion');
    expect(json?.['supportedInterfaces']).toHaveLength(3);
  });
});

describe('the card as a cached document', () => {
  const now = (): number => Date.parse('2026-03-04T05:06:07.890Z');

  it('is known by a strong tag, in a list, weakly and by *', async () => {
    const { url } = await startA2a({ now });
    const first = await ask(`${url}${PATH}`, { headers: V1 });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    expect(first.headers.get('vary')).toContain('A2A-Version');
    for (const tag of [etag, `"other", ${etag}`, `W/${etag}`, '*', `"a,b",${etag}`]) {
      const again = await ask(`${url}${PATH}`, { headers: { ...V1, 'If-None-Match': tag } });
      expect([tag, again.status, again.text, again.headers.get('etag')]).toEqual([tag, 304, '', etag]);
    }
    const other = await ask(`${url}${PATH}`, { headers: { ...V1, 'If-None-Match': '"other"' } });
    expect(other.status).toBe(200);
    expect((await ask(`${url}${PATH}`)).headers.get('etag')).not.toBe(etag);
  });

  it('is known by its date, which does not count beside a tag', async () => {
    const { url } = await startA2a({ now });
    const get = async (headers: Record<string, string>): Promise<number> =>
      (await ask(`${url}${PATH}`, { headers })).status;
    const modified = 'Wed, 04 Mar 2026 05:06:07 GMT';
    expect((await ask(`${url}${PATH}`)).headers.get('last-modified')).toBe(modified);
    expect(await get({ 'If-Modified-Since': modified })).toBe(304);
    expect(await get({ 'If-Modified-Since': 'Wed, 04 Mar 2026 05:06:06 GMT' })).toBe(200);
    expect(await get({ 'If-Modified-Since': 'nonsense' })).toBe(200);
    expect(await get({ 'If-Modified-Since': modified, 'If-None-Match': '"other"' })).toBe(200);
  });

  it('has a head without a body, and takes no other method', async () => {
    const { url } = await startA2a();
    const whole = await ask(`${url}${PATH}`, { headers: V1 });
    const head = await ask(`${url}${PATH}`, { method: 'HEAD', headers: V1 });
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', whole.headers.get('etag')]);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(whole.text)));
    const post = await ask(`${url}${PATH}`, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(post.json).toHaveProperty('error.code', 405);
  });
});
