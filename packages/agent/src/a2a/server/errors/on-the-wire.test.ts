import { AppError } from '@parley/service-kit';
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import { errorInfoOfStatus } from '../../client/error-info.js';
import {
  ask,
  closeA2aServers,
  failureOf,
  grpcCall,
  rpc,
  startA2a,
  V1,
  type Json,
  type TestA2a,
} from '../server.test-helper.js';

afterEach(closeA2aServers);

const failing = (thrown: Error): Promise<TestA2a> => startA2a({ handler: { getTask: () => Promise.reject(thrown) } });

const CASES: [AppError, { reason: string; http: number; grpc: number; jsonRpc: number }][] = [
  [
    new AppError('unavailable', 'The store is away.', { code: 'store_unavailable', cause: new Error('secret') }),
    { reason: 'STORE_UNAVAILABLE', http: 503, grpc: 14, jsonRpc: -32000 },
  ],
  [
    new AppError('not_found', 'There is no such agreement.', { code: 'agreement_unknown' }),
    { reason: 'AGREEMENT_UNKNOWN', http: 404, grpc: 5, jsonRpc: -32000 },
  ],
  [
    new AppError('forbidden', 'depth: deeper than agreed', {
      code: 'agreement_scope',
      errors: [{ path: 'depth', message: 'deeper than agreed' }],
    }),
    { reason: 'AGREEMENT_SCOPE', http: 403, grpc: 7, jsonRpc: -32000 },
  ],
  [
    new AppError('unavailable', 'Suspended.', { code: 'agreement_suspended', retryAfterSeconds: 4 }),
    { reason: 'AGREEMENT_SUSPENDED', http: 503, grpc: 14, jsonRpc: -32000 },
  ],
  [
    new AppError('gone', 'It has ended: revoked.', {
      code: 'agreement_ended',
      errors: [{ path: 'agreement_id', message: 'revoked' }],
    }),
    { reason: 'AGREEMENT_ENDED', http: 410, grpc: 9, jsonRpc: -32000 },
  ],
  [
    new AppError('invalid_request', 'metadata.a: wrong', { errors: [{ path: 'metadata.a', message: 'wrong' }] }),
    { reason: 'INVALID_PARAMS', http: 400, grpc: 3, jsonRpc: -32602 },
  ],
];

describe.each(CASES)('%s', (error, expected) => {
  it('is the same on every binding and in both versions', async () => {
    const server = await failing(error);
    const { reason, http, grpc, jsonRpc } = expected;
    const info = { reason, domain: 'a2a-protocol.org' };
    const overRpc = await rpc(server, 'GetTask', { id: 'a' });
    expect(overRpc.json?.['error']).toMatchObject({ code: jsonRpc, message: error.message });
    const data = (overRpc.json?.['error'] as { data: Json[] }).data;
    expect(data[0]).toMatchObject(info);
    const legacyRpc = await rpc(server, 'tasks/get', { id: 'a' }, {});
    expect(legacyRpc.json?.['error']).toEqual(overRpc.json?.['error']);
    const overRest = await ask(`${server.url}/a2a/v1/tasks/a`, { headers: V1 });
    expect([overRest.status, overRest.json]).toMatchObject([http, { error: { code: http, details: data } }]);
    const legacyRest = await ask(`${server.url}/a2a/v1/v1/tasks/a`);
    expect([legacyRest.status, legacyRest.json]).toEqual([http, overRpc.json?.['error']]);
    const retryAfter = error.retryAfterSeconds === undefined ? null : String(error.retryAfterSeconds);
    for (const answer of [overRpc, overRest, legacyRest]) expect(answer.headers.get('retry-after')).toBe(retryAfter);
    const overGrpc = [
      await failureOf(grpcCall(server, 'getTask', { tenant: '', id: 'a' })),
      await failureOf(
        grpcCall(server, 'getTask', { name: 'tasks/a', historyLength: 0 }, { service: LegacyA2AService, metadata: {} }),
      ),
    ];
    for (const failure of overGrpc) {
      expect([failure.code, failure.details]).toEqual([grpc, error.message]);
      expect(errorInfoOfStatus(failure.metadata.get('grpc-status-details-bin')[0] as Buffer)).toEqual({
        reason,
        metadata: error.code === 'agreement_ended' ? { end_reason: 'revoked' } : {},
        fields: error.errors,
        ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
      });
    }
    expect(JSON.stringify([overRpc, overRest, legacyRpc, legacyRest])).not.toContain('secret');
  });
});

describe('an error that nobody foresaw', () => {
  it('is told by a fixed sentence on every binding, and logged whole', async () => {
    const thrown = new Error('password 1234');
    const server = await failing(thrown);
    const sentence = 'The request could not be completed because of an internal error.';
    const overRpc = await rpc(server, 'GetTask', { id: 'a' });
    expect(overRpc.json?.['error']).toMatchObject({ code: -32603, message: sentence });
    const overRest = await ask(`${server.url}/a2a/v1/tasks/a`, { headers: V1 });
    expect([overRest.status, overRest.json]).toMatchObject([500, { error: { status: 'INTERNAL', message: sentence } }]);
    const legacyRest = await ask(`${server.url}/a2a/v1/v1/tasks/a`);
    expect([legacyRest.status, legacyRest.json]).toMatchObject([500, { code: -32603, message: sentence }]);
    const overGrpc = await failureOf(grpcCall(server, 'getTask', { tenant: '', id: 'a' }));
    expect([overGrpc.code, overGrpc.details]).toEqual([13, sentence]);
    for (const { text } of [overRpc, overRest, legacyRest]) expect(text).not.toMatch(/password|\.ts|at /);
    expect(server.lines.filter(({ level, error }) => level === 'error' && error === thrown)).toHaveLength(4);
  });
});
