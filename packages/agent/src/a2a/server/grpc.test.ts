import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import { status } from '@grpc/grpc-js';
import {
  closeA2aServers,
  EXTENSION,
  failureOf,
  grpcCall,
  grpcSaid,
  grpcStream,
  startA2a,
  V1,
  type Json,
} from './server.test-helper.js';

afterEach(closeA2aServers);

const legacy = { service: LegacyA2AService, metadata: {} };
const legacyMessage = (text: string): object => ({
  messageId: 'm-1',
  contextId: '',
  taskId: '',
  role: 1,
  content: [{ part: { $case: 'text', value: text }, metadata: undefined }],
  metadata: undefined,
  extensions: [],
});
const sendRequest = (text: string): object => ({
  tenant: '',
  message: grpcSaid(text),
  configuration: undefined,
  metadata: undefined,
});

describe('gRPC 1.0', () => {
  it('sends, gets and streams', async () => {
    const server = await startA2a();
    const { value } = await grpcCall(server, 'sendMessage', sendRequest('hello'));
    const task = (value['payload'] as Json)['value'] as { id: string };
    const got = await grpcCall(server, 'getTask', { tenant: '', id: task.id, historyLength: undefined });
    expect(got.value).toHaveProperty('id', task.id);
    const stream = grpcStream(server, 'sendStreamingMessage', sendRequest('hello'));
    expect(await stream.ended).toBeUndefined();
    expect(stream.items.length).toBeGreaterThan(2);
    stream.close();
  });

  it('tells failures with a status and its details', async () => {
    const server = await startA2a();
    const error = await failureOf(grpcCall(server, 'getTask', { tenant: '', id: 'unknown' }));
    expect([error.code, error.details]).toEqual([status.NOT_FOUND, 'Task not found: unknown']);
    const text = String(error.metadata.get('grpc-status-details-bin')[0]);
    expect(text).toContain('TASK_NOT_FOUND');
    expect(text).toContain('a2a-protocol.org');
    const stream = grpcStream(server, 'subscribeToTask', { tenant: '', id: 'unknown' });
    expect((await stream.ended)?.code).toBe(status.NOT_FOUND);
    stream.close();
  });

  it.each<[string, object, string]>([
    ['no message', { tenant: '' }, 'message'],
    ['no message id', { tenant: '', message: { ...grpcSaid('a'), messageId: '' } }, 'message.messageId'],
    ['no role', { tenant: '', message: { ...grpcSaid('a'), role: 0 } }, 'message.role'],
    ['no parts', { tenant: '', message: { ...grpcSaid('a'), parts: [] } }, 'message.parts'],
    [
      'a part without content',
      { tenant: '', message: { ...grpcSaid('a'), parts: [{ content: undefined, filename: '', mediaType: '' }] } },
      'message.parts[0]',
    ],
  ])('refuses %s, and says where', async (_what, request, field) => {
    const server = await startA2a();
    const error = await failureOf(grpcCall(server, 'sendMessage', request));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
    expect(String(error.metadata.get('grpc-status-details-bin')[0])).toContain(field);
    const stream = grpcStream(server, 'sendStreamingMessage', request);
    expect((await stream.ended)?.code).toBe(status.INVALID_ARGUMENT);
    stream.close();
  });

  it('refuses bytes that are no message as the fault of the request', async () => {
    const server = await startA2a();
    const error = await failureOf(grpcCall(server, 'sendMessage', Buffer.from([0x0a, 0xff, 0xff])));
    expect(error.code).toBe(status.INVALID_ARGUMENT);
  });

  it('takes messages of megabytes, and refuses those above its limit', async () => {
    const server = await startA2a({ maxBodyBytes: 2_000_000 });
    const answer = await grpcCall(server, 'sendMessage', sendRequest('x'.repeat(1_000_000)));
    expect(answer.value).toHaveProperty('payload.$case', 'task');
    const error = await failureOf(grpcCall(server, 'sendMessage', sendRequest('x'.repeat(2_100_000))));
    expect(error.code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('is not there without a target on the card', async () => {
    const server = await startA2a({ card: { grpcTarget: undefined as never } });
    expect(server.a2a.grpc.services).toEqual([]);
    expect((await failureOf(grpcCall(server, 'getTask', { tenant: '', id: 'a' }))).code).toBe(status.UNIMPLEMENTED);
  });
});

describe('gRPC 0.3', () => {
  it('gives the whole history when no length is said', async () => {
    const server = await startA2a();
    const request = {
      request: legacyMessage('hello'),
      configuration: { blocking: true, acceptedOutputModes: [], historyLength: 9 },
    };
    const { value } = await grpcCall(server, 'sendMessage', request, legacy);
    const { id } = (value['payload'] as Json)['value'] as { id: string };
    const got = await grpcCall(server, 'getTask', { name: `tasks/${id}`, historyLength: 0 }, legacy);
    expect(got.value['history']).toHaveLength(1);
    expect((await grpcCall(server, 'getTask', { tenant: '', id, historyLength: 0 })).value['history']).toEqual([]);
  });

  it('tells failures by the same table', async () => {
    const server = await startA2a();
    const unknown = await failureOf(grpcCall(server, 'getTask', { name: 'tasks/unknown', historyLength: 0 }, legacy));
    expect(unknown.code).toBe(status.NOT_FOUND);
    const misnamed = await failureOf(grpcCall(server, 'getTask', { name: 'nonsense', historyLength: 0 }, legacy));
    expect(misnamed.code).toBe(status.INVALID_ARGUMENT);
    const empty = await failureOf(grpcCall(server, 'sendMessage', { request: undefined }, legacy));
    expect(empty.code).toBe(status.INVALID_ARGUMENT);
  });

  it('is not there when only 1.0 is served', async () => {
    const server = await startA2a({ compat: false });
    const error = await failureOf(grpcCall(server, 'getTask', { name: 'tasks/a', historyLength: 0 }, legacy));
    expect(error.code).toBe(status.UNIMPLEMENTED);
  });
});

describe('extensions over gRPC', () => {
  it('are named in the headers of unary calls and streams', async () => {
    const server = await startA2a();
    const metadata = { ...V1, 'a2a-extensions': `urn:other, ${EXTENSION}` };
    const { headers } = await grpcCall(server, 'sendMessage', sendRequest('hello'), { metadata });
    expect(headers.get('a2a-extensions')).toEqual([EXTENSION]);
    const stream = grpcStream(server, 'sendStreamingMessage', sendRequest('hello'), { metadata });
    expect((await stream.headers).get('a2a-extensions')).toEqual([EXTENSION]);
    await stream.ended;
    stream.close();
    const plain = await grpcCall(server, 'sendMessage', sendRequest('hello'));
    expect(plain.headers.get('a2a-extensions')).toEqual([]);
  });

  it('are asked for and named in 0.3 by the name of 0.3 too', async () => {
    const server = await startA2a();
    const request = { request: legacyMessage('hello'), configuration: undefined };
    const metadata = { 'x-a2a-extensions': EXTENSION };
    const { headers } = await grpcCall(server, 'sendMessage', request, { ...legacy, metadata });
    expect(headers.get('x-a2a-extensions')).toEqual([EXTENSION]);
  });
});
