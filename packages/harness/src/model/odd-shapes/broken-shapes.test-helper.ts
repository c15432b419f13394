import type { OddShape } from './odd-shape.test-helper.js';
import { calls, choice, fn, text, wire } from './wire-chunks.test-helper.js';

/** Answers that are not whole, or no answers. */
export const brokenShapes: readonly OddShape[] = [
  {
    name: 'the end marker without a finish reason',
    answer: (a) => a.stream(text('hel')),
    result: { fails: 'provider_error', says: 'ended without a finish reason', shown: 'hel' },
  },
  {
    name: 'the end of the body without a finish reason',
    answer: (a) => a.begin().chunks(text('hel')).end(),
    result: { fails: 'provider_error', says: 'ended without a finish reason', shown: 'hel' },
  },
  {
    name: 'an empty body',
    answer: (a) => a.begin().end(),
    result: { fails: 'provider_error', says: 'ended without a finish reason' },
  },
  {
    name: 'a call, and the end of the body without a finish reason',
    answer: (a) =>
      a
        .begin()
        .chunks(calls({ index: 0, id: 'a', function: fn('read', '{"path":"a"}') }))
        .end(),
    result: { fails: 'provider_error', says: 'ended without a finish reason' },
  },
  {
    name: 'the answer 204',
    answer: (a) => {
      a.response.writeHead(204).end();
    },
    result: { fails: 'provider_error', says: 'ended without a finish reason' },
  },
  {
    name: 'a connection that breaks in the middle',
    answer: (a) => a.begin().chunks(text('hel')).breakOff(),
    result: {
      fails: 'provider_error',
      says: 'the connection to the model server broke (UND_ERR_SOCKET)',
      shown: 'hel',
    },
  },
  {
    name: 'a body shorter than its announced length',
    answer: (a) => {
      a.socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n${wire(text('hel')).slice(0, -14)}`,
      );
    },
    result: { fails: 'provider_error', says: 'the connection to the model server broke', shown: 'hel' },
  },
  {
    name: 'a connection that breaks before the answer',
    answer: (a) => {
      a.socket.destroy();
    },
    result: { fails: 'provider_error', says: 'the connection to the model server failed (UND_ERR_SOCKET)' },
  },
  {
    name: 'something that is not HTTP',
    answer: (a) => {
      a.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
    },
    result: { fails: 'provider_error', says: 'the connection to the model server failed' },
  },
  {
    name: 'silence in place of an answer',
    answer: (a) => a.clientGone(),
    config: { timeoutMs: 60 },
    result: { fails: 'timeout', says: 'has not begun to answer within 60 ms' },
  },
  {
    name: 'silence in the middle of the stream',
    answer: (a) => a.begin().chunks(text('hel')).clientGone(),
    config: { idleTimeoutMs: 60 },
    result: { fails: 'timeout', says: 'has not sent anything within 60 ms', shown: 'hel' },
  },
  {
    name: 'a refusal whose body never ends',
    answer: async (a) => {
      a.response.writeHead(500, { 'content-type': 'application/json' }).write('{"error":');
      await a.clientGone();
    },
    config: { timeoutMs: 60 },
    result: { fails: 'timeout', says: 'has not begun to answer within 60 ms' },
  },
  {
    name: 'a refusal whose body has no end',
    answer: async (a) => {
      const gone = a.clientGone();
      a.response.writeHead(500, { 'content-type': 'text/plain' });
      while (!a.socket.destroyed) {
        const sent = new Promise<void>((resolve) => a.response.write('no '.repeat(10_000), () => resolve()));
        await Promise.race([sent, gone]);
      }
    },
    config: { timeoutMs: 2_000 },
    result: { fails: 'provider_error', says: 'the model server answered 500: no no no' },
  },
  {
    name: 'an answer larger than the limit',
    answer: async (a) => {
      a.begin().packets(`data: ${'x'.repeat(3_000)}`);
      await a.clientGone();
    },
    config: { maxResponseBytes: 2_000 },
    result: { fails: 'provider_error', says: 'larger than 2000 bytes' },
  },
  {
    name: 'a chunk that is broken JSON',
    answer: (a) => a.stream(text('hel'), '{"choices":[{"delta":{"content":"lo"'),
    result: { fails: 'provider_error', says: 'sent a chunk that is no JSON', shown: 'hel' },
  },
  {
    name: 'a chunk that is no object',
    answer: (a) => a.stream(text('hel'), '42'),
    result: { fails: 'provider_error', says: 'sent a chunk that is no object', shown: 'hel' },
  },
  {
    name: 'the finish reason `error`',
    answer: (a) => a.stream(text('hel'), choice({}, 'error')),
    result: { fails: 'provider_error', says: 'broke off its answer (error)', shown: 'hel' },
  },
  {
    name: 'JSON that is no completion',
    answer: (a) => a.status(200, { hello: 'world' }),
    result: { fails: 'provider_error', says: '{"hello":"world"}' },
  },
  {
    name: 'a page of HTML',
    answer: (a) => a.status(200, '<!DOCTYPE html><html><head><title>Sign in</title></head><body>…</body></html>'),
    result: { fails: 'provider_error', says: 'the model server failed: an HTML page titled "Sign in"' },
  },
];
