import { connect } from 'node:net';
import { startDripServer, startSilentListener } from './bad-peers.js';
import { endEverything } from './children.js';
import { waitFor } from './wait-for.js';

describe('startSilentListener', () => {
  afterEach(endEverything);

  it('accepts a request and does not answer it', async () => {
    const peer = await startSilentListener();
    await expect(fetch(peer.url, { signal: AbortSignal.timeout(200) })).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(peer.accepted).toBe(1);
  });

  it('notices that its caller has gone', async () => {
    const peer = await startSilentListener();
    const socket = connect(peer.port, peer.host);
    await waitFor(() => peer.open === 1);
    socket.destroy();
    await waitFor(() => peer.open === 0);
    expect(peer.accepted).toBe(1);
  });

  it('refuses connections and closes open ones when closed', async () => {
    const peer = await startSilentListener();
    const socket = connect(peer.port, peer.host);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await waitFor(() => peer.open === 1);
    await peer.close();
    await closed;
    await expect(fetch(peer.url)).rejects.toThrow();
  });
});

describe('startDripServer', () => {
  afterEach(endEverything);

  it('sends a body that goes on without coming to an end', async () => {
    const peer = await startDripServer({ intervalMs: 5, piece: 'x' });
    const response = await fetch(peer.url);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    let read = 0;
    while (read < 5) {
      const part: { value?: Uint8Array } | undefined = await reader?.read();
      read += part?.value?.length ?? 0;
    }
    await reader?.cancel();
    await waitFor(() => peer.open === 0, { what: 'the caller to be noticed as gone' });
  });

  it('sends a head that goes on without coming to an end', async () => {
    const peer = await startDripServer({ part: 'head', intervalMs: 5 });
    const socket = connect(peer.port, peer.host);
    let seen = '';
    socket.on('data', (chunk) => (seen += String(chunk)));
    socket.write('GET / HTTP/1.1\r\nhost: peer\r\n\r\n');
    await waitFor(() => seen.includes('x-drip-3'));
    expect(seen).toMatch(/^HTTP\/1\.1 200 OK\r\nx-drip-1: 1\r\n/u);
    expect(seen).not.toContain('\r\n\r\n');
    socket.destroy();
    await waitFor(() => peer.open === 0);
  });
});
