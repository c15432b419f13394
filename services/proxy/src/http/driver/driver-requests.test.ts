import { startClaimedProxy, startProxy, stopProxies, TOKEN, type TestProxy } from '../../proxy.test-helper.js';

afterAll(stopProxies);

let proxy: TestProxy;
let task: string;
beforeAll(async () => {
  proxy = await startClaimedProxy();
  task = await proxy.open('hello');
});

const BASH = { kind: 'bash', command: 'true' };
const CALL = { kind: 'tool', server: 's', name: 'n' };

type Case = readonly [operation: string, fields: object, sentence: string];

describe('refusals of malformed requests', () => {
  const act = (action: unknown, sentence: string): Case => ['act', { task_id: 't', action_id: 'a', action }, sentence];
  const cases: readonly Case[] = [
    ['claim', { token: 'too-short-21-charactr' }, 'token: must have at least 22 characters'],
    ['claim', { token: '😀'.repeat(11) }, 'token: must have at least 22 characters'],
    ['claim', { token: null }, 'token: must be a string'],
    ['claim', { token: 5 }, 'token: must be a string'],
    ['claim', { who: 'me' }, 'who: is not a known field'],
    ['next', { after: -1 }, 'after: must be at least 0'],
    ['next', { after: null }, 'after: must be an integer'],
    ['next', { after: 1.5 }, 'after: must be an integer'],
    ['next', { after: 'abc' }, 'after: must be an integer'],
    ['next', { after: [1] }, 'after: must be an integer'],
    ['tools', {}, "missing required fields: ['task_id']"],
    ['tools', { task_id: 5 }, 'task_id: must be a string'],
    ['act', {}, "missing required fields: ['task_id', 'action_id', 'action']"],
    ['act', { surplus: 1 }, "missing required fields: ['task_id', 'action_id', 'action']"],
    act(null, 'action: must be an object'),
    act([], 'action: must be an object'),
    act('x', 'action: must be an object'),
    act({ command: 'true' }, "action.kind: must be 'bash' or 'tool'"),
    act({ type: 'bash', command: 'true' }, "action.kind: must be 'bash' or 'tool'"),
    act({ kind: 'python' }, "action.kind: must be 'bash' or 'tool'"),
    act({ kind: 'bash' }, 'action.command: is required'),
    act({ kind: 'bash', command: 1 }, 'action.command: must be a string'),
    act({ ...BASH, cwd: '/' }, 'action.cwd: is not a known field'),
    act({ ...BASH, timeout_seconds: 0 }, 'action.timeout_seconds: must be greater than 0'),
    act({ ...BASH, timeout_seconds: -1 }, 'action.timeout_seconds: must be greater than 0'),
    act({ ...BASH, timeout_seconds: 'abc' }, 'action.timeout_seconds: must be a number'),
    act({ ...BASH, timeout_seconds: 'nan' }, 'action.timeout_seconds: must be greater than 0'),
    act({ ...BASH, timeout_seconds: [1] }, 'action.timeout_seconds: must be a number'),
    act({ kind: 'tool', name: 'add' }, 'action.server: is required'),
    act({ ...CALL, arguments: [1] }, 'action.arguments: must be an object'),
    act({ ...CALL, arguments: null }, 'action.arguments: must be an object'),
    act({ ...CALL, command: 'x' }, 'action.command: is not a known field'),
    ['act', { task_id: 't', action_id: '', action: BASH }, 'action_id: must have at least 1 character'],
    ['act', { task_id: 't', action_id: 'x'.repeat(129), action: BASH }, 'action_id: must have at most 128 characters'],
    ['result', {}, "missing required fields: ['action_id']"],
    ['result', { action_id: 'a', after: -1 }, 'after: must be at least 0'],
    ['cancel', { action_id: 'a', after: 1 }, 'after: is not a known field'],
    ['record', { task_id: 't', message: [1] }, 'message: must be a string or an object'],
    ['record', { task_id: 't', message: null }, 'message: must be a string or an object'],
    ['record', { task_id: 't', message: 'x', usage: [1] }, 'usage: must be an object'],
    ['record', { task_id: 't', message: 'x', model: 5 }, 'model: must be a string'],
    ['reply', { task_id: 't' }, 'a reply carries exactly one of parts and error'],
    ['reply', { task_id: 't', parts: null, error: null }, 'a reply carries exactly one of parts and error'],
    ['reply', { task_id: 't', parts: [{ text: 'x' }], error: 'e' }, 'a reply carries exactly one of parts and error'],
    ['reply', { task_id: 't', parts: [] }, 'parts: must have at least 1 item'],
    ['reply', { task_id: 't', parts: 'x' }, 'parts: must be a list'],
    ['reply', { task_id: 't', parts: ['x'] }, 'parts.0: must be an object'],
    ['reply', { task_id: 't', parts: [{ kind: 'file', text: 'x' }] }, "parts.0.kind: must be 'text'"],
    ['reply', { task_id: 't', parts: [{ kind: 'text' }] }, 'parts.0.text: is required'],
    [
      'reply',
      { task_id: 't', parts: [{ text: 'x' }, { text: 'x', metadata: {} }] },
      'parts.1.metadata: is not a known field',
    ],
    ['reply', { task_id: 't', error: 5 }, 'error: must be a string'],
  ];

  it.each(cases)('%s %j', async (operation, fields, sentence) => {
    // The token is wrong too, where it is not what is tested: what is malformed is told first.
    const token = operation === 'claim' ? TOKEN : 'wrong';
    const answer = await proxy.post(`/ext/proxy/${operation}`, { token, ...fields });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
      400,
      'text/plain; charset=utf-8',
      sentence,
    ]);
  });

  it('of half a surrogate pair in a token, an id or a text', async () => {
    const half = String.raw`\ud83d`;
    const bodies = [
      ['claim', `{"token":"${half.repeat(22)}"}`],
      ['act', `{"token":"${TOKEN}","task_id":"t","action_id":"${half}","action":{"kind":"bash","command":"x"}}`],
      ['reply', `{"token":"${TOKEN}","task_id":"t","parts":[{"text":"${half}"}]}`],
    ] as const;
    for (const [operation, body] of bodies) {
      const answer = await proxy.post(`/ext/proxy/${operation}`, body);
      expect([operation, answer.status]).toEqual([operation, 400]);
      expect(answer.text).toMatch(/must be valid Unicode, without half a surrogate pair$/);
    }
  });

  it('name a field that the caller made up only in short and in one line', async () => {
    const answer = await proxy.op('next', { [`a\n${'b'.repeat(500)}`]: 1 });
    expect([answer.status, answer.text]).toEqual([400, `a ${'b'.repeat(62)}…: is not a known field`]);
  });
});

describe('lenient types', () => {
  it.each(['0', 0, '0.0', false, ' 0 ', '+0'])('takes %j as an integer', async (after) => {
    expect((await proxy.op('next', { after })).status).toBe(200);
  });

  it('takes 0.0 written out as an integer', async () => {
    const answer = await proxy.post('/ext/proxy/next', `{"token":"${TOKEN}","after":0.0}`);
    expect(answer.status).toBe(200);
  });

  it.each(['"5"', 'true', '5', '1e0', 'Infinity', '"inf"', 'null', '1e400', '100000000000'])(
    'takes %s as seconds',
    async (limit) => {
      const id = `lenient-${limit}`;
      const action = `{"kind":"bash","command":"echo ok","timeout_seconds":${limit}}`;
      const body = `{"token":"${TOKEN}","task_id":"${task}","action_id":${JSON.stringify(id)},"action":${action}}`;
      const answer = await proxy.post('/ext/proxy/act', body);
      expect([answer.status, answer.json]).toEqual([
        200,
        { done: true, result: { kind: 'bash', exit_code: 0, stdout: 'ok\n', stderr: '', timed_out: false } },
      ]);
    },
  );

  it('takes null for what may be missing', async () => {
    expect((await proxy.op('record', { task_id: task, message: 'x', model: null, usage: null })).json).toEqual({});
    const other = await proxy.open('other');
    expect((await proxy.op('reply', { task_id: other, parts: [{ text: '' }], error: null })).json).toEqual({});
  });
});

describe('what is refused before and after the claim', () => {
  it('is 401 for every operation but the claim', async () => {
    const fresh = await startProxy();
    const calls = [
      ['next', {}],
      ['tools', { task_id: 't' }],
      ['act', { task_id: 't', action_id: 'a', action: BASH }],
      ['result', { action_id: 'a' }],
      ['cancel', { action_id: 'a' }],
      ['record', { task_id: 't', message: 'm' }],
      ['reply', { task_id: 't', error: 'e' }],
    ] as const;
    for (const [operation, fields] of calls) {
      const before = await fresh.op(operation, fields);
      const wrong = await proxy.op(operation, { token: 'é'.repeat(TOKEN.length), ...fields });
      for (const answer of [before, wrong]) {
        expect([operation, answer.status, answer.text]).toEqual([
          operation,
          401,
          "the driver's token is missing or wrong",
        ]);
      }
    }
  });

  it('is 409 for another claim and 404 for what is not there', async () => {
    const expected = [
      [await proxy.op('claim', { token: 'another-token-of-over-22-characters' }), 409, 'this proxy is already claimed'],
      [await proxy.op('tools', { task_id: 'nope' }), 404, "no open turn 'nope'"],
      [await proxy.op('act', { task_id: 'nope', action_id: 'a', action: BASH }), 404, "no open turn 'nope'"],
      [await proxy.op('record', { task_id: 'nope', message: 'x' }), 404, "no open turn 'nope'"],
      [await proxy.op('reply', { task_id: 'nope', error: 'x' }), 404, "no open turn 'nope'"],
      [await proxy.op('result', { action_id: 'nope' }), 404, "no action 'nope'"],
      [await proxy.op('cancel', { action_id: 'nope' }), 404, "no action 'nope'"],
    ] as const;
    for (const [answer, status, text] of expected) {
      expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
        status,
        text,
        'text/plain; charset=utf-8',
      ]);
    }
  });
});
