import { createHash } from 'node:crypto';
import type { JsonObject } from '../../domain/facts.js';
import { startClaimedProxy, stopProxies } from '../../proxy.test-helper.js';
import { startObjectHost, type ObjectHost } from '../transfers/object-host.test-helper.js';
import { createObjectStore, TransferFailure } from '../transfers/index.js';
import { trajectoryRoutes } from './trajectory-routes.js';

const PATH = '/ext/trajectory';

afterEach(stopProxies);

const target = (more: object = {}, grant: object = {}): object => ({
  trajectory: {
    media_type: 'application/json',
    max_bytes: 10_000,
    write: { kind: 'http-put', url: 'https://127.0.0.1:1/t', expires_at: '2099-01-01T00:00:00Z', ...grant },
    ...more,
  },
});

describe('a trajectory', () => {
  it('is read in pages while its task runs, and whole once it has ended', async () => {
    const proxy = await startClaimedProxy();
    const task = await proxy.open('x', 'ctx');
    const empty = await proxy.post(PATH, { task_id: task, after: 0 });
    expect(empty.text).toBe(
      `{"context_id":"ctx","task_id":"${task}","state":"pending","format":"agentenv-proxy/v1","events":[],"next":0,"has_more":false}`,
    );
    const early = await proxy.post(PATH, { task_id: task });
    expect([early.status, early.text]).toEqual([404, `No completed trajectory available for task '${task}'`]);
    for (const message of ['one', 'two', 'three']) await proxy.op('record', { task_id: task, message });
    expect((await proxy.post(PATH, { task_id: task, after: 1, limit: 1 })).json).toMatchObject({
      state: 'running',
      events: [{ name: 'chat' }],
      next: 2,
      has_more: true,
    });
    // Asked to wait, the sender hears of the end when the trajectory is whole.
    await proxy.end(task, 'bye');
    for (const body of [{ task_id: task }, { context_id: 'ctx' }]) {
      const { json } = await proxy.post(PATH, body);
      const { trajectory } = json as { trajectory: { name: string }[] };
      expect(trajectory.map(({ name }) => name)).toEqual(['chat', 'chat', 'chat', 'turn']);
    }
    expect((await proxy.post(PATH, { context_id: 'ctx', after: 4 })).json).toMatchObject({
      task_id: task,
      state: 'completed',
      events: [],
      next: 4,
    });
    const past = await proxy.post(PATH, { task_id: task, after: 9 });
    expect([past.status, past.text]).toEqual([400, "after=9 is past the trajectory's 4 events"]);
  });

  it('keeps the nulls of its page', async () => {
    const proxy = await startClaimedProxy();
    const parts = [{ kind: 'data', data: { x: 1 } }];
    const configuration = { blocking: true };
    const sent = await proxy.rpc('message/send', { message: { messageId: 'n', role: 'user', parts }, configuration });
    const page = await proxy.post(PATH, { task_id: sent.result?.['id'], after: 0 });
    expect(page.json).toMatchObject({ state: 'failed', format: null, events: [] });
  });

  it('is 404 where there is none', async () => {
    const proxy = await startClaimedProxy();
    const cases = [
      [{ task_id: 'x' }, "No completed trajectory available for task 'x'"],
      [{ task_id: 'x', objects: target() }, "No completed trajectory available for task 'x'"],
      [{ task_id: 'x', after: 0 }, "Unknown task 'x'"],
      [{ context_id: 'x' }, "Unknown context 'x'"],
      [{ context_id: 'x', after: 0 }, "Unknown context 'x'"],
    ] as const;
    for (const [body, text] of cases) {
      const answer = await proxy.post(PATH, body);
      expect([answer.status, answer.text]).toEqual([404, text]);
    }
  });

  it('is asked for in one of six forms, with its numbers written as integers', async () => {
    const proxy = await startClaimedProxy();
    const one = 'a trajectory is named by exactly one of task_id and context_id';
    const cases = [
      ['{}', one],
      ['{"task_id":"x","context_id":"c"}', one],
      ['{"task_id":5}', 'task_id: must be a string'],
      ['{"task_id":"x","extra":1}', 'extra: is not a known field'],
      ['{"task_id":"x","after":-1}', 'after: must be at least 0'],
      ['{"task_id":"x","after":"0"}', 'after: must be an integer'],
      ['{"task_id":"x","after":true}', 'after: must be an integer'],
      ['{"task_id":"x","after":0.0}', 'after: must be an integer'],
      ['{"task_id":"x","after":0.5}', 'after: must be an integer'],
      ['{"task_id":"x","after":1e0}', 'after: must be an integer'],
      ['{"task_id":"x","after":null}', 'after: must be an integer'],
      ['{"task_id":"x","after":0,"limit":0}', 'limit: must be at least 1'],
      ['{"task_id":"x","after":0,"limit":1001}', 'limit: must be at most 1000'],
      ['{"task_id":"x","after":0,"limit":"5"}', 'limit: must be an integer'],
      ['{"task_id":"x","limit":5}', 'limit goes with after only'],
      ['{"task_id":"x","objects":{}}', 'objects.trajectory: is required'],
      [
        JSON.stringify({ task_id: 'x', after: 0, objects: target() }),
        'a trajectory is read in pages or uploaded, not both',
      ],
      [
        JSON.stringify({ task_id: 'x', objects: target({ media_type: 'text/plain' }) }),
        'objects.trajectory.media_type: must be application/json',
      ],
    ] as const;
    for (const [body, text] of cases) {
      const answer = await proxy.post(PATH, body);
      expect([body, answer.status, answer.text]).toEqual([body, 400, text]);
    }
  });
});

describe('an upload', () => {
  let host: ObjectHost;
  afterEach(() => host.stop());

  it('sends the events as JSON and tells their size and digest', async () => {
    host = await startObjectHost((_request, response) => response.end());
    const events: readonly JsonObject[] = [{ name: 'turn', attributes: { text: 'é' } }];
    const recorder = {
      whole: () => events,
      page: (): never => {
        throw new Error('no page was asked for');
      },
    };
    const closing = new AbortController();
    const [route] = trajectoryRoutes({ recorder, store: createObjectStore(host.dispatcher), closing: closing.signal });
    const fields = { task_id: 't', objects: target({}, { url: `${host.url}/t` }) } as JsonObject;
    const { signal } = new AbortController();
    const body = Buffer.from('[{"name":"turn","attributes":{"text":"é"}}]');
    expect(await route?.handle({ fields, signal })).toEqual({
      objects: {
        trajectory: { size_bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') },
      },
    });
    expect(host.requests).toMatchObject([{ method: 'PUT', body }]);
    closing.abort();
    await expect((async () => route?.handle({ fields, signal }))()).rejects.toThrow(TransferFailure);
  });
});
