import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endEverything, onTestsEnd } from './children.js';
import { watchEvents } from './watch-events.js';

/** Answers every watch with whatever the test writes. */
async function startStream(
  onOpen: (response: ServerResponse, lastEventId: string | undefined) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    onOpen(response, request.headers['last-event-id']?.toString());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestsEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

describe('watchEvents', () => {
  afterEach(endEverything);

  it('reads events that arrive in pieces, leaves out comments, and tells an end from a break', async () => {
    const responses: ServerResponse[] = [];
    const url = await startStream((response) => {
      responses.push(response);
      response.write('event: snapshot\nid: 4\ndata: {"type":"snapshot","revision":4,"agents":[]}\n\n: keep-al');
      response.write('ive\n\nevent: registered\nid: 5\nda');
      response.write('ta: {"type":"registered","revision":5,"agent_id":"é"}\n\n');
    });
    const [one, other] = [await watchEvents(url), await watchEvents(url)];
    const found = await one.waitFor(({ type }) => type === 'registered');
    expect(found).toMatchObject({ id: '5', revision: 5, agentId: 'é' });
    expect(one.all).toHaveLength(2);
    expect(one.changes).toEqual([found]);
    responses[0]?.end();
    expect(await one.ended).toBe('ended');
    responses[1]?.destroy();
    expect(await other.ended).toBe('broken');
    await expect(one.waitFor(({ type }) => type === 'expired')).rejects.toThrow('the stream is over (ended)');
  });

  it('resumes where it is told to, and stops', async () => {
    const asked: (string | undefined)[] = [];
    const url = await startStream((response, lastEventId) => {
      asked.push(lastEventId);
      response.flushHeaders();
    });
    const watch = await watchEvents(url, { lastEventId: '17' });
    expect(asked).toEqual(['17']);
    await expect(watch.waitFor(() => true, 20)).rejects.toThrow('waited 20 ms');
    watch.stop();
    expect(await watch.ended).toBe('stopped');
  });
});
