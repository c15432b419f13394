import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMetrics, silentLogger, type BoundedServer } from '@parley/service-kit';
import type { ProxyEngine } from '../engine/index.js';
import { message, startClaimedProxy, stopProxies, TOKEN } from '../proxy.test-helper.js';
import { createHttpApp } from './create-http-app.js';
import { createProxyServer } from './create-proxy-server.js';
import { driverRoutes } from './driver/driver-routes.js';

let server: BoundedServer | undefined;

afterEach(async () => {
  await stopProxies();
  await server?.close(0);
  server = undefined;
});

async function serve(engine: Partial<ProxyEngine>, options: object = {}): Promise<number> {
  const app = createHttpApp({
    routes: driverRoutes(engine as ProxyEngine),
    ownRoutes: [],
    card: () => ({}),
    logger: silentLogger,
    metrics: createMetrics({ service: 'test', processMetrics: false }),
    readiness: () => ({ ready: true, checks: {} }),
  });
  server = createProxyServer({ app, ...options });
  return server.listen(0, '127.0.0.1');
}

function raw(path: string, body: object): string {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${String(Buffer.byteLength(text))}\r\n\r\n${text}`;
}

describe('connections', () => {
  it('stay open far longer than a poller pauses', async () => {
    await serve({});
    expect(server?.server.keepAliveTimeout).toBeGreaterThanOrEqual(75_000);
    expect(server?.server.headersTimeout).toBeGreaterThan(server?.server.keepAliveTimeout ?? Infinity);
    expect(server?.server.requestTimeout).toBeLessThanOrEqual(300_000);
  });

  it('answer a poller that comes every 5.0 s on one and the same connection', async () => {
    const port = await serve({ next: () => Promise.resolve({ version: 0, turns: [] }) });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<Socket>();
    const poll = (): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { port, method: 'POST', path: '/ext/proxy/next', agent };
        const sent = httpRequest(options, (response) => {
          response.resume().on('end', () => {
            resolve(response.statusCode);
          });
        });
        sent.on('socket', (socket) => sockets.add(socket)).on('error', reject);
        sent.end(JSON.stringify({ token: TOKEN }));
      });
    for (let round = 0; round < 3; round += 1) {
      if (round > 0) await sleep(5_000);
      expect(await poll()).toBe(200);
    }
    expect(sockets.size).toBe(1);
    agent.destroy();
  }, 20_000);

  it('that send a request too slowly are told so and closed', async () => {
    const port = await serve({}, { requestTimeoutMs: 300 });
    const begun = [
      'POST /ext/proxy/next HTTP/1.1\r\nhost: x\r\n',
      'POST /ext/proxy/next HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{',
    ];
    for (const text of begun) {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      socket.write(text);
      await once(socket, 'close');
      expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*the request did not arrive in time$/);
    }
  });

  it('that are cut while they wait end the wait of each', async () => {
    const signals: AbortSignal[] = [];
    let ended = 0;
    const all = Promise.withResolvers<undefined>();
    const port = await serve({
      next: ({ signal }) => {
        signals.push(signal);
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended += 1;
            if (ended === 200) all.resolve(undefined);
            resolve({ version: 0, turns: [] });
          });
        });
      },
    });
    const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.write(raw('/ext/proxy/next', { token: TOKEN }));
    while (signals.length < 200) await sleep(5);
    expect(ended).toBe(0);
    for (const socket of sockets) socket.destroy();
    await all.promise;
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('that are answered do not abort', async () => {
    let seen: AbortSignal | undefined;
    const port = await serve({
      next: ({ signal }) => {
        seen = signal;
        return Promise.resolve({ version: 0, turns: [] });
      },
    });
    const socket = connect(port, '127.0.0.1');
    socket.write(raw('/ext/proxy/next', { token: TOKEN }));
    await once(socket, 'data');
    socket.destroy();
    while (
      (await new Promise<number>((done) =>
        server?.server.getConnections((_error, count) => {
          done(count);
        }),
      )) > 0
    )
      await sleep(5);
    expect(seen?.aborted).toBe(false);
  });

  it('of a blocking sender that hangs up leave its turn open, and its task ends with the reply', async () => {
    const proxy = await startClaimedProxy();
    const socket = connect(proxy.app.httpPort, '127.0.0.1');
    const params = message('drop', { contextId: 'c' }, { blocking: true });
    socket.write(raw('/a2a', { jsonrpc: '2.0', id: 1, method: 'message/send', params }));
    const { json } = await proxy.op('next', { after: 0 });
    const [turn] = (json as { turns: { task_id: string }[] }).turns;
    const task = turn?.task_id ?? '';
    socket.resetAndDestroy();
    await once(socket, 'close');
    const ended = await proxy.end(task, 'late');
    expect(ended.result?.['status']).toMatchObject({ state: 'completed', message: { parts: [{ text: 'late' }, {}] } });
  });
});
