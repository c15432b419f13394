import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { A2aRefused, A2aSender, ProxyFailed, ProxyMisread, ProxyUnreachable } from './index.js';

interface Call {
  readonly method: string;
  readonly params: {
    readonly message?: { readonly parts: unknown; readonly contextId?: string; readonly messageId: string };
  };
}

const calls: Call[] = [];
let server: Server;
let sender: A2aSender;
/** An answer for each call; undefined breaks the connection. */
let answers: (object | string | number | undefined)[];

beforeEach(async () => {
  calls.length = 0;
  answers = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call);
      const answer = answers.shift();
      if (answer === undefined) request.socket.destroy();
      else if (typeof answer === 'number') response.writeHead(answer).end('<html>');
      else response.end(typeof answer === 'string' ? answer : JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  sender = new A2aSender({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, retryMs: 5 });
});

afterEach(async () => {
  await sender.close();
  server.closeAllConnections();
  server.close();
});

function task(state: string, ...parts: object[]): object {
  return { result: { kind: 'task', id: 't', contextId: 'c', status: { state, message: { parts }, more: 1 } } };
}

describe('A2aSender', () => {
  it('sends a message of protocol 0.3 and reads the task', async () => {
    answers = [{ result: { id: 't', contextId: 'c', status: { state: 'submitted' } } }];
    expect(await sender.send(['one', 'two'], { contextId: 'c' })).toEqual({
      id: 't',
      contextId: 'c',
      state: 'submitted',
      hasEnded: false,
      texts: [],
      data: [],
    });
    expect(calls[0]).toMatchObject({
      method: 'message/send',
      params: {
        configuration: { blocking: false },
        message: {
          kind: 'message',
          role: 'user',
          contextId: 'c',
          parts: [
            { kind: 'text', text: 'one' },
            { kind: 'text', text: 'two' },
          ],
        },
      },
    });
  });

  it('asks until the end, also over answers that break off', async () => {
    answers = [
      task('working'),
      503,
      undefined,
      task('completed', { kind: 'text', text: 'hi' }, { kind: 'data', data: { n: 1 } }),
    ];
    expect(await sender.ended('t', { pollMs: 1 })).toMatchObject({ hasEnded: true, texts: ['hi'], data: [{ n: 1 }] });
    expect(calls.map(({ method }) => method)).toEqual(Array(4).fill('tasks/get'));
  });

  it('sends a message only once, for a second one would be a second task', async () => {
    answers = [undefined];
    await expect(sender.send('x')).rejects.toBeInstanceOf(ProxyUnreachable);
    expect(calls).toHaveLength(1);
  });

  it('tells the errors of the protocol, of a gateway, and of what is no agent', async () => {
    answers = [{ error: { code: -32_001, message: 'Task not found' } }, 502, '<html>', '{"result":{}}', '[]'];
    await expect(sender.get('t')).rejects.toMatchObject({ rpcCode: -32_001, message: 'Task not found' });
    await expect(sender.get('t')).rejects.toBeInstanceOf(ProxyFailed);
    for (let count = 0; count < 3; count += 1) await expect(sender.get('t')).rejects.toBeInstanceOf(ProxyMisread);
    answers = [{ error: { code: -32_002, message: 'no' } }];
    await expect(sender.cancel('t')).rejects.toBeInstanceOf(A2aRefused);
  });
});
