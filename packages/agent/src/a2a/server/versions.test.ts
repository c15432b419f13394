import { status } from '@grpc/grpc-js';
import {
  ask,
  closeA2aServers,
  failureOf,
  grpcCall,
  post,
  rpc,
  startA2a,
  type Answer,
  type Json,
  type TestA2a,
} from './server.test-helper.js';

afterEach(closeA2aServers);

const list = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} };

async function bindings(server: TestA2a, version: string): Promise<[Answer, Answer]> {
  const headers = { 'A2A-Version': version };
  return [await rpc(server, 'ListTasks', {}, headers), await ask(`${server.url}/a2a/v1/tasks`, { headers })];
}

describe('the version of the protocol', () => {
  it.each(['1.0', '1.0.0', '1.0.17', ' 1.0 '])('is 1.0 when %s is said, on every binding', async (version) => {
    const server = await startA2a();
    const [overRpc, overRest] = await bindings(server, version);
    expect(overRpc.json).toHaveProperty('result.totalSize', 0);
    expect(overRest.json).toHaveProperty('totalSize', 0);
    const metadata = { 'a2a-version': version.trim() };
    expect(
      (await grpcCall(server, 'listTasks', { tenant: '', contextId: '', status: 0, pageToken: '' }, { metadata }))
        .value,
    ).toHaveProperty('totalSize', 0);
  });

  it.each(['2.0', '1.1', '0.2', '1', 'latest', '1.0.0.0', '99.0.1'])('refuses %s on every binding', async (version) => {
    const server = await startA2a();
    const [overRpc, overRest] = await bindings(server, version);
    expect(overRpc.json).toMatchObject({ id: 7, error: { code: -32009, data: [{ reason: 'VERSION_NOT_SUPPORTED' }] } });
    expect([overRest.status, overRest.json]).toMatchObject([
      400,
      { error: { status: 'FAILED_PRECONDITION', details: [{ reason: 'VERSION_NOT_SUPPORTED' }] } },
    ]);
    const legacyPath = await ask(`${server.url}/a2a/v1/v1/card`, { headers: { 'A2A-Version': version } });
    expect(legacyPath.status).toBeGreaterThanOrEqual(400);
    const error = await failureOf(
      grpcCall(server, 'getTask', { tenant: '', id: 'a' }, { metadata: { 'a2a-version': version } }),
    );
    expect(error.code).toBe(status.FAILED_PRECONDITION);
    expect(String(error.metadata.get('grpc-status-details-bin')[0])).toContain('VERSION_NOT_SUPPORTED');
  });

  it('may stand in the query; a header counts more', async () => {
    const server = await startA2a();
    for (const name of ['A2A-Version', 'a2a-version']) {
      const url = `${server.url}/a2a?${name}=1.0.3`;
      expect((await post(url, list, {})).json).toHaveProperty('result.totalSize', 0);
      expect((await ask(`${server.url}/a2a/v1/tasks?${name}=2.0`)).status).toBe(400);
      expect((await post(url, list, { 'A2A-Version': '2.0' })).json).toHaveProperty('error.code', -32009);
    }
  });

  it('is 0.3 when nothing is said, also by an empty header', async () => {
    const server = await startA2a();
    for (const headers of [{}, { 'A2A-Version': '' }, { 'A2A-Version': '0.3.1' }] as Record<string, string>[]) {
      expect((await rpc(server, 'tasks/get', { id: 'unknown' }, headers)).json).toHaveProperty('error.code', -32001);
    }
  });

  it('has to be said when only 1.0 is served', async () => {
    const server = await startA2a({ compat: false });
    expect((await rpc(server, 'message/send', {}, {})).json).toHaveProperty('error.code', -32009);
    expect((await rpc(server, 'tasks/get', { id: 'a' }, { 'A2A-Version': '0.3' })).json).toHaveProperty(
      'error.code',
      -32009,
    );
    const answer = await ask(`${server.url}/a2a/v1/tasks`);
    expect((answer.json?.['error'] as Json)['details']).toMatchObject([{ reason: 'VERSION_NOT_SUPPORTED' }]);
    expect((await failureOf(grpcCall(server, 'getTask', { tenant: '', id: 'a' }, { metadata: {} }))).code).toBe(
      status.FAILED_PRECONDITION,
    );
  });
});
