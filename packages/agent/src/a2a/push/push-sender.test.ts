import type { StreamResponse, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { waitFor } from '@parley/testkit';
import { callOf, statusUpdate, taskOf, textMessage } from '../../../test-support/a2a-tasks.js';
import { startJsonServer, TAKEN, type JsonRequest } from '../../../test-support/json-server.js';
import { idle, pushFixture, readBy, receiver, wordsOf, type PushFixture } from '../../../test-support/push-fixture.js';

const alice = callOf('alice');
let fixture: PushFixture;

beforeEach(() => {
  fixture = pushFixture();
});

afterEach(() => fixture.end());

describe('a push notification', () => {
  it('carries the credentials and the token, each in its header', async () => {
    const target = await receiver(200);
    await fixture.register(target.url, {
      token: 'token-7',
      authentication: { scheme: 'Bearer', credentials: 'credential-7' },
    });
    const sender = fixture.sender();
    await sender.send(statusUpdate('one'), alice, taskOf());
    await idle(sender);
    expect(target.requests).toMatchObject([
      {
        method: 'POST',
        path: '/hook-secret',
        headers: {
          authorization: 'Bearer credential-7',
          'x-a2a-notification-token': 'token-7',
          'content-type': 'application/a2a+json',
        },
      },
    ]);
  });

  it.each<[string, Partial<TaskPushNotificationConfig>, (string | undefined)[]]>([
    ['only a token', { token: 'token-7' }, [undefined, 'token-7']],
    ['only credentials', { authentication: { scheme: 'Basic', credentials: 'credential-7' } }, ['Basic credential-7', undefined]],
    ['a scheme without credentials', { authentication: { scheme: 'Bearer', credentials: '' } }, [undefined, undefined]],
  ])('carries what there is: %s', async (_, over, wanted) => {
    const target = await receiver(200);
    await fixture.register(target.url, over);
    const sender = fixture.sender();
    await sender.send(statusUpdate('one'), alice);
    await idle(sender);
    const [request] = target.requests;
    expect([request?.headers.authorization, request?.headers['x-a2a-notification-token']]).toEqual(wanted);
  }); // prettier-ignore

  it('is the event in 1.0 and the task in 0.3, as they were when it was sent', async () => {
    const target = await receiver(200);
    const legacy = await receiver(200);
    await fixture.register(target.url, { id: 'current' });
    await fixture.register(legacy.url, { id: 'legacy' }, '0.3');
    const sender = fixture.sender();
    const task = { ...taskOf(), history: [textMessage('m-1')] };
    const event = statusUpdate('one');
    const sent = sender.send(event, alice, task);
    // An answer with a short history cuts the very object that was handed over.
    task.history = [];
    task.status = undefined;
    await sent;
    await idle(sender);
    expect(target.requests[0]?.body).toMatchObject({
      statusUpdate: { taskId: 'task-1', status: { state: 'TASK_STATE_WORKING' } },
    });
    expect(legacy.requests[0]?.headers['content-type']).toBe('application/json');
    expect(legacy.requests[0]?.body).toMatchObject({
      kind: 'task',
      id: 'task-1',
      status: { state: 'working' },
      history: [{ kind: 'message', messageId: 'm-1', parts: [{ kind: 'text', text: 'hello' }] }],
    });
  });

  it('goes to nobody but those who asked for this task', async () => {
    const target = await receiver(200);
    await fixture.register(target.url);
    const sender = fixture.sender();
    await sender.send(statusUpdate('other task', undefined, 'task-2'), alice);
    await sender.send(statusUpdate('other caller'), callOf('bob'));
    const message: StreamResponse = { payload: { $case: 'message', value: { ...textMessage('m'), taskId: '' } } };
    await sender.send(message, alice);
    await idle(sender);
    expect(target.requests).toEqual([]);
    expect(fixture.lines).toEqual([]);
  });
});

describe('notifications of one task', () => {
  it('come in order, although the first takes longest', async () => {
    const answers: (() => void)[] = [];
    const target = await startJsonServer(
      () => new Promise((resolve) => answers.push(() => { resolve({ status: 200 }); })),
    ); // prettier-ignore
    await fixture.register(target.url);
    const sender = fixture.sender();
    for (const word of ['1', '2', '3']) await sender.send(statusUpdate(word), alice);
    await waitFor(() => answers.length === 1);
    expect(wordsOf(target)).toEqual(['1']);
    for (let count = 1; count <= 3; count += 1) {
      await waitFor(() => answers.length === count);
      answers[count - 1]?.();
    }
    await idle(sender);
    expect(wordsOf(target)).toEqual(['1', '2', '3']);
  });

  it('come in order, although the store answers the first question last', async () => {
    const target = await receiver(200);
    await fixture.register(target.url);
    const gates: (() => void)[] = [];
    const slow = readBy(fixture.store, async (taskId, context) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return fixture.store.loadWithMetadata(taskId, context);
    });
    const sender = fixture.sender({ store: slow });
    await sender.send(statusUpdate('1'), alice);
    await sender.send(statusUpdate('2'), alice);
    expect(gates).toHaveLength(1);
    gates[0]?.();
    await waitFor(() => target.requests.length === 2);
    await sender.send(statusUpdate('3'), alice);
    gates[1]?.();
    await idle(sender);
    expect(wordsOf(target)).toEqual(['1', '2', '3']);
  });

  it('wait for the one that is tried again', async () => {
    const target = await receiver(503, 500, 429, 200);
    await fixture.register(target.url);
    const sender = fixture.sender();
    await sender.send(statusUpdate('1'), alice);
    await sender.send(statusUpdate('2'), alice);
    await idle(sender);
    expect(wordsOf(target)).toEqual(['1', '1', '1', '1', '2']);
    expect(fixture.warnings()).toEqual([]);
  });

  it('to a slow receiver delay neither the task nor another receiver of it', async () => {
    const slow = await startJsonServer(() => TAKEN);
    const quick = await receiver(200);
    await fixture.register(slow.url, { id: 'slow' });
    await fixture.register(quick.url, { id: 'quick' });
    const sender = fixture.sender({ timeoutMs: 60_000 });
    for (let count = 0; count < 20; count += 1) await sender.send(statusUpdate(String(count)), alice);
    await waitFor(() => quick.requests.length === 20);
    expect(slow.requests).toHaveLength(1);
    expect(sender.pending).toBe(20);
  });
});

describe('a receiver', () => {
  it.each([400, 401, 403, 404, 410, 422])('that answers %i is not asked again', async (status) => {
    const target = await receiver(status, 200);
    await fixture.register(target.url);
    const sender = fixture.sender();
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect(target.requests).toHaveLength(1);
    expect(fixture.warnings()).toMatchObject([
      { task_id: 'task-1', config_id: 'config-1', host: `127.0.0.1:${String(target.port)}`, reason: `status ${String(status)}`, attempts: 1 },
    ]);
    await sender.send(statusUpdate('2'), alice);
    await idle(sender);
    expect(wordsOf(target)).toEqual(['1', '2']);
  }); // prettier-ignore

  it.each([301, 302, 307, 308])('that redirects (%i) is not followed', async (status) => {
    const elsewhere = await receiver(200);
    const target = await startJsonServer(() => ({ status, headers: { location: `${elsewhere.url}/hook` } }));
    await fixture.register(target.url, { token: 'token-7' });
    const sender = fixture.sender();
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect([target.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
    expect(fixture.warnings()).toHaveLength(1);
  });

  it('that never answers well is given up after all tries', async () => {
    const target = await receiver(503);
    await fixture.register(target.url);
    const sender = fixture.sender({ attempts: 3 });
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect(target.requests).toHaveLength(3);
    expect(fixture.warnings()).toMatchObject([{ reason: 'status 503', attempts: 3 }]);
  });

  it('that is down gets one try of each, and all of the last one', async () => {
    const target = await receiver(503);
    await fixture.register(target.url);
    const sender = fixture.sender({ attempts: 3 });
    for (const word of ['1', '2', '3', '4']) await sender.send(statusUpdate(word), alice);
    await idle(sender);
    expect(wordsOf(target)).toEqual(['1', '1', '1', '2', '3', '4', '4', '4']);
  });

  it('that breaks the connection or says nothing is tried again', async () => {
    let asked = 0;
    const target = await startJsonServer(({ response }: JsonRequest) => {
      asked += 1;
      if (asked === 1) response.destroy();
      return asked <= 2 ? TAKEN : { status: 204 };
    });
    await fixture.register(target.url);
    const sender = fixture.sender({ timeoutMs: 200 });
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect(asked).toBe(3);
    expect(fixture.warnings()).toEqual([]);
  });

  it('that nobody listens for is tried again', async () => {
    const target = await receiver(200);
    await target.stop();
    await fixture.register(target.url);
    const sender = fixture.sender({ attempts: 2 });
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect(fixture.warnings()).toMatchObject([{ reason: 'ECONNREFUSED', attempts: 2 }]);
  });

  it('that says when to come back is not asked before', async () => {
    const times: number[] = [];
    const target = await startJsonServer(() => {
      times.push(performance.now());
      return times.length === 1 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 200 };
    });
    await fixture.register(target.url);
    const sender = fixture.sender();
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(900);
  });

  it('whose answer has no end does not hold up the next one', async () => {
    const target = await startJsonServer(({ response }: JsonRequest) => {
      response.writeHead(200);
      const more = (): boolean => response.destroyed || !response.write(Buffer.alloc(65_536));
      while (!more());
      response.on('drain', () => { while (!more()); });
      return TAKEN;
    }); // prettier-ignore
    await fixture.register(target.url);
    const sender = fixture.sender({ timeoutMs: 5_000 });
    await sender.send(statusUpdate('1'), alice);
    await sender.send(statusUpdate('2'), alice);
    await waitFor(() => target.requests.length === 2);
    await idle(sender);
    expect(fixture.warnings()).toEqual([]);
  });
});

describe('a target that must not be called', () => {
  it.each(['127.0.0.1', 'localhost'])('%s is refused when private addresses are', async (host) => {
    const target = await receiver(200);
    await fixture.register(`http://${host}:${String(target.port)}`);
    const sender = fixture.sender({ rules: { allowPlainHttp: true } });
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect(target.sockets.size).toBe(0);
    expect(target.requests).toEqual([]);
    expect(fixture.warnings()).toMatchObject([{ reason: 'target_refused', attempts: 1 }]);
  });

  it('plain HTTP is refused when it is not allowed', async () => {
    const target = await receiver(200);
    await fixture.register(target.url);
    const sender = fixture.sender({ rules: { allowPrivateAddresses: true } });
    await sender.send(statusUpdate('1'), alice);
    await idle(sender);
    expect(target.requests).toEqual([]);
    expect(fixture.warnings()).toMatchObject([{ reason: 'target_refused', attempts: 1 }]);
  });
});
