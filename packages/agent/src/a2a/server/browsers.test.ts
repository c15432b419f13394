import { ask, closeA2aServers, EXTENSION, legacySaid, post, rpc, said, startA2a, V1 } from './server.test-helper.js';

afterEach(closeA2aServers);

const PATHS = ['/.well-known/agent-card.json', '/a2a', '/a2a/v1/message:send', '/a2a/v1/tasks/a'];

describe('web pages', () => {
  it.each(PATHS)('may ask before they call %s', async (path) => {
    const { url } = await startA2a();
    const answer = await ask(`${url}${path}`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect([answer.status, answer.text, answer.headers.get('access-control-allow-origin')]).toEqual([204, '', '*']);
    const allowed = answer.headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining([
        'A2A-Version',
        'A2A-Extensions',
        'Authorization',
        'Content-Type',
        'Parley-Agreement-Proof',
      ]),
    );
    expect(answer.headers.get('access-control-allow-methods')).toContain('DELETE');
  });

  it('may read the headers of answers, failures included', async () => {
    const server = await startA2a();
    for (const answer of [
      await rpc(server, 'SendMessage', { message: said('a') }),
      await rpc(server, 'Nope', {}),
      await ask(`${server.url}/a2a/v1/nothing`, { headers: V1 }),
      await post(`${server.url}/a2a`, '{'),
    ]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('A2A-Extensions');
    }
  });

  it('are only those that are allowed, where some are named', async () => {
    const { url } = await startA2a({ allowedOrigins: ['https://good.example'] });
    const from = (origin: string) => ask(`${url}/a2a`, { method: 'OPTIONS', headers: { Origin: origin } });
    const good = await from('https://good.example');
    expect(good.headers.get('access-control-allow-origin')).toBe('https://good.example');
    expect(good.headers.get('vary')).toContain('Origin');
    const bad = await from('https://bad.example');
    expect(bad.headers.get('access-control-allow-origin')).toBeNull();
    expect(bad.headers.get('access-control-allow-headers')).toBeNull();
  });
});

describe('extensions over HTTP', () => {
  const asking = { 'A2A-Extensions': `urn:other, ${EXTENSION}` };

  it('are named in answers and streams of 1.0', async () => {
    const server = await startA2a();
    const headers = { ...V1, ...asking };
    const message = said('a');
    for (const answer of [
      await rpc(server, 'SendMessage', { message }, headers),
      await rpc(server, 'SendStreamingMessage', { message }, headers),
      await post(`${server.url}/a2a/v1/message:send`, { message }, headers),
      await post(`${server.url}/a2a/v1/message:stream`, { message }, headers),
    ]) {
      expect(answer.headers.get('a2a-extensions')).toBe(EXTENSION);
      expect(answer.headers.get('x-a2a-extensions')).toBeNull();
    }
    expect((await rpc(server, 'SendMessage', { message })).headers.get('a2a-extensions')).toBeNull();
  });

  it.each(['A2A-Extensions', 'X-A2A-Extensions'])(
    'are asked for by %s in 0.3, and named by both names',
    async (name) => {
      const server = await startA2a();
      const headers = { [name]: EXTENSION };
      const message = legacySaid('a');
      const old = { message: { ...message, role: 'ROLE_USER', parts: undefined, content: [{ text: 'a' }] } };
      for (const answer of [
        await rpc(server, 'message/send', { message }, headers),
        await rpc(server, 'message/stream', { message }, headers),
        await post(`${server.url}/a2a/v1/v1/message:send`, old, headers),
        await post(`${server.url}/a2a/v1/v1/message:stream`, old, headers),
      ]) {
        expect(answer.headers.get('x-a2a-extensions')).toBe(EXTENSION);
        expect(answer.headers.get('a2a-extensions')).toBe(EXTENSION);
      }
    },
  );
});
