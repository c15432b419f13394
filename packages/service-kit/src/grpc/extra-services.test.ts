import { once } from 'node:events';
import * as grpc from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { closeGrpcServers, startGrpc } from './grpc.test-helper.js';
import type { RawGrpcService } from './grpc-server.js';

afterEach(closeGrpcServers);

const same = (bytes: Buffer): Buffer => bytes;
const wire = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
const definition = {
  echo: { path: '/example.Raw/Echo', requestStream: false, responseStream: false, ...wire },
  follow: { path: '/example.Raw/Follow', requestStream: false, responseStream: true, ...wire },
};

/** Not one of ours: bytes in, bytes out, and a stream that never ends by itself. */
const raw: RawGrpcService = {
  definition,
  implementation: {
    echo: ((call: grpc.ServerUnaryCall<Buffer, Buffer>, reply: grpc.sendUnaryData<Buffer>) => {
      reply(null, call.request);
    }) as grpc.UntypedHandleCall,
    follow: ((call: grpc.ServerWritableStream<Buffer, Buffer>) => {
      call.write(call.request);
    }) as grpc.UntypedHandleCall,
  },
};

function echo(client: grpc.Client, bytes: Buffer, metadata = new grpc.Metadata()): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(definition.echo.path, same, same, bytes, metadata, (error, answer) => {
      if (error === null) resolve(answer);
      else reject(error);
    });
  });
}

describe('services of other contracts', () => {
  it('are served beside ours', async () => {
    const { client } = await startGrpc({}, { extraServices: [raw] });
    expect(String(await echo(client, Buffer.from('hello')))).toBe('hello');
  });

  it('count for the health of the server', async () => {
    const { client, setServing } = await startGrpc({}, { extraServices: [raw] });
    setServing(true);
    const { Check } = healthService as unknown as { Check: grpc.MethodDefinition<object, { readonly status: string }> };
    const status = await new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = Check;
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { service: 'example.Raw' },
        (error, answer) => {
          if (error === null) resolve(answer?.status);
          else reject(error);
        },
      );
    });
    expect(status).toBe('SERVING');
  });

  it('take messages as long as the server’s limit', async () => {
    const { client } = await startGrpc({}, { extraServices: [raw], maxMessageBytes: 200_000 });
    expect((await echo(client, Buffer.alloc(150_000)))?.length).toBe(150_000);
    await expect(echo(client, Buffer.alloc(250_000))).rejects.toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED });
  });

  it('do not hold up the end of the server by their streams', async () => {
    const { client, close } = await startGrpc({}, { extraServices: [raw] });
    const stream = client.makeServerStreamRequest(definition.follow.path, same, same, Buffer.from('a'));
    const failed = once(stream, 'error') as Promise<[grpc.ServiceError]>;
    await once(stream, 'data');
    const started = performance.now();
    await close(30_000);
    expect(performance.now() - started).toBeLessThan(3_000);
    expect((await failed)[0].code).toBe(grpc.status.UNAVAILABLE);
  });

  it('and ours are seen by interceptors, in their order', async () => {
    const seen: string[] = [];
    const note =
      (name: string): grpc.ServerInterceptor =>
      ({ path }, call) => {
        seen.push(`${name} ${path}`);
        return new grpc.ServerInterceptingCall(call);
      };
    const { client } = await startGrpc({}, { extraServices: [raw], interceptors: [note('first'), note('second')] });
    await echo(client, Buffer.from('a'));
    expect(seen.toSorted()).toEqual(['first /example.Raw/Echo', 'second /example.Raw/Echo']);
  });
});
