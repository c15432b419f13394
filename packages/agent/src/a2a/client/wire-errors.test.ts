import { fromJsonRpcErrorResponse, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { fromGrpcError } from '@a2a-js/sdk/errors/grpc';
import { AppError, type Reason } from '@parley/service-kit';
import { toFailure } from '../server/errors/a2a-failure.js';
import { grpcError, jsonRpcError, restError } from '../server/errors/wire-errors.js';
import { callError, errorOfHttp, wireError } from './wire-errors.js';

/** An error as our own server tells it over each wire, read back. */
const wires: readonly (readonly [string, (error: unknown) => AppError])[] = [
  [
    'JSON-RPC',
    (error) => wireError(fromJsonRpcErrorResponse({ jsonrpc: '2.0', id: 1, error: jsonRpcError(toFailure(error)) })),
  ],
  [
    'an event of JSON-RPC',
    (error) =>
      wireError(
        new Error('SSE', {
          cause: fromJsonRpcErrorResponse({ jsonrpc: '2.0', id: 1, error: jsonRpcError(toFailure(error)) }),
        }),
      ),
  ],
  ['HTTP+JSON', (error) => errorOfHttp(toFailure(error).http, JSON.parse(JSON.stringify(restError(toFailure(error)))))],
  [
    'gRPC',
    (error) => wireError(fromGrpcError({ ...grpcError(toFailure(error)), name: 'Error', message: 'x' }, 'getTask')),
  ],
];

const agreementErrors: readonly (readonly [string, Reason])[] = [
  ['agreement_unknown', 'not_found'],
  ['agreement_suspended', 'unavailable'],
  ['agreement_scope', 'forbidden'],
  ['agreement_limit', 'too_many_requests'],
  ['agreement_terms_mismatch', 'conflict'],
];

describe.each(wires)('an error over %s', (name, travel) => {
  it.each(agreementErrors)('brings %s back as what it was', (code, reason) => {
    const error = travel(new AppError(reason, 'Why not.', { code }));
    expect(error).toMatchObject({ reason, code, message: 'Why not.' });
  });

  it('brings back why an agreement ended, which is acted on', () => {
    const ended = new AppError('gone', 'It has ended.', {
      code: 'agreement_ended',
      errors: [{ path: 'agreement_id', message: 'party_deregistered' }],
    });
    expect(travel(ended)).toMatchObject({
      reason: 'gone',
      code: 'agreement_ended',
      errors: [{ path: 'agreement_id', message: 'party_deregistered' }],
    });
  });

  it('brings back wrong fields, and when to try again', () => {
    const errors = [{ path: 'message.parts', message: 'must not be empty' }];
    expect(travel(new AppError('invalid_request', 'No parts.', { errors }))).toMatchObject({
      reason: 'invalid_request',
      code: 'invalid_params',
      errors,
    });
    expect(
      travel(new AppError('unavailable', 'Later.', { code: 'busy', retryAfterSeconds: 7 })).retryAfterSeconds,
    ).toBe(7);
  });

  it('keeps the code of what is not known here', () => {
    const error = travel(new AppError('conflict', 'Twice.', { code: 'call_id_conflict' }));
    // JSON-RPC has no status beside the code.
    expect(error).toMatchObject({
      code: 'call_id_conflict',
      reason: name.includes('JSON-RPC') ? 'bad_gateway' : 'conflict',
    });
  });

  it('knows the protocol by name', () => {
    expect(travel(new TaskNotFoundError('Task not found: 1'))).toMatchObject({
      reason: 'not_found',
      code: 'task_not_found',
    });
  });
});

describe('an error of a foreign agent', () => {
  it('without details is told by its code, its status or the like', () => {
    const rpc = (code: number): AppError =>
      wireError(fromJsonRpcErrorResponse({ jsonrpc: '2.0', id: 1, error: { code, message: 'm' } }));
    expect(rpc(-32002)).toMatchObject({ reason: 'failed_precondition', code: 'task_not_cancelable' });
    expect(rpc(-32601)).toMatchObject({ reason: 'failed_precondition', code: 'method_not_found' });
    expect(rpc(-32603)).toMatchObject({ reason: 'bad_gateway', code: 'internal_error' });
    expect(rpc(-32000)).toMatchObject({ reason: 'bad_gateway', code: 'peer_error' });
    expect(errorOfHttp(401, undefined)).toMatchObject({ reason: 'unauthenticated', code: 'unauthenticated' });
    expect(errorOfHttp(404, { code: -32001, message: 'gone' })).toMatchObject({
      code: 'task_not_found',
      message: 'gone',
    });
    expect(errorOfHttp(500, '<html>')).toMatchObject({ reason: 'internal', message: 'The peer answered 500.' });
    expect(wireError(fromGrpcError({ code: 7, details: 'no', message: 'no', name: 'Error' } as never))).toMatchObject({
      reason: 'forbidden',
      message: 'no',
    });
  });

  it('of a hostile one is cut, on one line, and cannot bring a code that is no word', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'a b\n<i>', metadata: { x: 1 } }];
    const error = errorOfHttp(409, { error: { message: `${'d'.repeat(5_000)}\r\nx`, details } });
    expect(error).toMatchObject({ reason: 'conflict', code: 'conflict' });
    expect(error.message.length).toBeLessThan(1_100);
    expect(errorOfHttp(400, { error: { message: 'a\r\nb\u0000c' } }).message).toBe('a b c');
    const bin = Buffer.from([0xff, 0xff, 0xff]);
    expect(
      wireError(
        Object.assign(fromGrpcError({ code: 9, details: 'x', message: 'x', name: 'E' } as never), {
          statusDetailsBin: bin,
        }),
      ),
    ).toMatchObject({
      reason: 'failed_precondition',
    });
  });

  it('counts for less than why the call was given up', () => {
    const controller = new AbortController();
    const bounds = { caller: controller.signal, limit: AbortSignal.abort(), deadlineMs: 5 };
    expect(callError(new TypeError('terminated'), bounds)).toMatchObject({ code: 'peer_timeout' });
    controller.abort();
    expect(callError(new TypeError('terminated'), bounds)).toMatchObject({ reason: 'cancelled' });
    expect(wireError(new TypeError('terminated'))).toMatchObject({ code: 'peer_unreachable' });
    expect(wireError(new Error('nonsense'))).toMatchObject({ code: 'peer_invalid_answer' });
  });
});
