import { once } from 'node:events';
import { jest } from '@jest/globals';
import { sendResult, type Script } from './env-server.test-helper.js';
import { call, ToolStage } from './tool-caller.test-helper.js';

const stage = new ToolStage();
afterEach(() => stage.end());

const onCall =
  (answer: (response: Parameters<Script>[1]) => unknown): Script =>
  (request, response) => {
    if (request.method !== 'tools/call') return false;
    answer(response);
    return true;
  };

describe('the time of a call', () => {
  it('covers connecting and opening', async () => {
    const turn = stage.turn([await stage.silent()]);
    const { text, ms } = await call(turn, {}, { server: 'silent', timeoutMs: 500 });
    expect(text).toBe('error: the tool call timed out after 0.5s');
    expect(ms).toBeLessThan(3000);
  });

  it('is one budget over opening and calling', async () => {
    const server = await stage.server();
    server.sessions.add('s');
    server.script = (request, response) => {
      if (request.method === 'tools/call') return true;
      if (request.method !== 'initialize') return false;
      setTimeout(() => {
        response.setHeader('mcp-session-id', 's');
        sendResult(response, request, {});
      }, 600);
      return true;
    };
    const { text, ms } = await call(stage.turn([server.registered()]), {}, { timeoutMs: 800 });
    expect(text).toBe('error: the tool call timed out after 0.8s');
    expect(server.of('tools/call')).toHaveLength(1);
    expect(ms).toBeLessThan(1390);
  });

  it.each(['application/json', 'text/event-stream'])('covers headers of %s without a body', async (type) => {
    const server = await stage.server();
    server.script = onCall((response) => {
      response.setHeader('content-type', type).flushHeaders();
    });
    expect((await call(stage.turn([server.registered()]), {}, { timeoutMs: 300 })).text).toBe(
      'error: the tool call timed out after 0.3s',
    );
  });

  it('is not made longer by comments that drip in', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    await call(turn);
    let closed: Promise<unknown> | undefined;
    server.script = onCall((response) => {
      response.setHeader('content-type', 'text/event-stream');
      const dripping = setInterval(() => response.write(': still here\n'), 20);
      closed = once(response, 'close').finally(() => {
        clearInterval(dripping);
      });
    });
    const { text, ms } = await call(turn, {}, { timeoutMs: 300 });
    expect(text).toBe('error: the tool call timed out after 0.3s');
    expect(ms).toBeLessThan(1500);
    await closed;
  });

  it('being over leaves the session as it was, for the next call', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    await call(turn);
    server.script = onCall(() => undefined);
    await call(turn, {}, { timeoutMs: 200 });
    server.script = () => false;
    expect((await call(turn, { a: 1 })).text).toBe('{"a":1}');
    expect(server.of('initialize')).toHaveLength(1);
  });

  it('being over while the session opens leaves the next call a new opening', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    server.script = (request) => request.method === 'initialize';
    expect((await call(turn, {}, { timeoutMs: 200 })).text).toBe('error: the tool call timed out after 0.2s');
    server.script = () => false;
    expect((await call(turn, { a: 1 })).text).toBe('{"a":1}');
  });

  it('being over for one leaves the opening to the other who waits for it', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    const released = Promise.withResolvers<undefined>();
    server.script = async (request) => {
      if (request.method === 'initialize') await released.promise;
      return false;
    };
    const [hasty, patient] = [call(turn, {}, { timeoutMs: 200 }), call(turn, { a: 1 })];
    expect((await hasty).text).toBe('error: the tool call timed out after 0.2s');
    released.resolve(undefined);
    expect((await patient).text).toBe('{"a":1}');
    expect(server.of('initialize')).toHaveLength(1);
  });

  it('may be longer than a timer can count', async () => {
    const server = await stage.server();
    const { result } = await call(stage.turn([server.registered()]), {}, { timeoutMs: Infinity });
    expect(result.isError).toBe(false);
  });

  it('ends with the caller, who takes the connection down', async () => {
    const server = await stage.server();
    const turn = stage.turn([server.registered()]);
    let closed: Promise<unknown> | undefined;
    server.script = onCall((response) => {
      closed = once(response, 'close');
    });
    const cancelled = new AbortController();
    const calling = call(turn, {}, { signal: cancelled.signal });
    await server.arrived('tools/call');
    cancelled.abort(new Error('enough'));
    expect((await calling).text).toBe('error: the tool call was cancelled');
    await closed;
  });

  it('ends while the connection is not made yet', async () => {
    const destroy = jest.fn();
    const connector = () => ({ destroy });
    const turn = stage.turn([{ name: 'far', url: 'http://far.invalid/mcp', headers: {} }], { connector });
    const { text } = await call(turn, {}, { server: 'far', timeoutMs: 100 });
    expect(text).toBe('error: the tool call timed out after 0.1s');
    expect(destroy).toHaveBeenCalled();
  });
});
